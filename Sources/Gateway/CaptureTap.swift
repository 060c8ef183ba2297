/// Shows the capture what crosses the TUN device.
///
/// Workers share it behind a lock, which only a running capture pays for. A capture that cannot be written any
/// more (a full disk) ends; it never stops the gateway.

import Bytes
import Capture
import LinuxIO
import Synchronization
import Wire

final class CaptureTap: Sendable {
    private let writer: Mutex<CaptureWriter?>

    init(_ writer: consuming CaptureWriter) {
        self.writer = Mutex(writer)
    }

    /// Records a packet that lies in one piece.
    func record(_ packet: Span<UInt8>, virtio: VirtioHeader? = nil) {
        let time = Clock.unixTime()
        writer.withLock { writer in
            do throws(CaptureError) {
                try writer?.record(packet, virtio: virtio, at: time)
            } catch {
                writer = nil
                StandardError.write("event=capture-ended level=warning cause=\"\(error)\"\n")
            }
        }
    }

    /// Records a packet that was written from headers and runs of the pool.
    func record(header: Span<UInt8>, payload: ByteRuns, pool: borrowing BufferPool, hasVirtioHeader: Bool) {
        let time = Clock.unixTime()
        writer.withLock { writer in
            do throws(CaptureError) {
                try writer?.record(
                    header: header, payload: payload, pool: pool, hasVirtioHeader: hasVirtioHeader, at: time)
            } catch {
                writer = nil
                StandardError.write("event=capture-ended level=warning cause=\"\(error)\"\n")
            }
        }
    }

    /// Hands what was recorded to the kernel.
    func flush() {
        writer.withLock { writer in
            do throws(CaptureError) {
                try writer?.flush()
            } catch {
                writer = nil
                StandardError.write("event=capture-ended level=warning cause=\"\(error)\"\n")
            }
        }
    }
}
