/// Shows the capture what crosses the TUN device.
///
/// Workers share it behind a lock, which only a running capture pays for. It begins and ends while packets flow; one
/// that cannot be written any more (a full disk) ends by itself, and never stops the gateway.

import Bytes
import Capture
import LinuxIO
import Synchronization
import Wire

final class CaptureTap: Sendable {
    private let writer: Mutex<CaptureWriter?>
    private let running: Atomic<Bool>

    /// With nil nothing is captured until `start`.
    init(_ writer: consuming CaptureWriter?) {
        running = Atomic(writer != nil)
        self.writer = Mutex(writer)
    }

    /// Whether packets are to be shown; asked for each of them, so without the lock.
    var isRunning: Bool { running.load(ordering: .relaxed) }

    /// Begins a capture; false when one runs already.
    func start(_ writer: consuming CaptureWriter) -> Bool {
        var writer: CaptureWriter? = consume writer
        let isFree = self.writer.withLock { current in
            guard current == nil else { return false }
            current = writer.take()
            return true
        }
        if isFree { running.store(true, ordering: .relaxed) }
        return isFree
    }

    /// Ends a capture and returns how many packets it has; nil when none runs.
    func stop() -> Int? {
        running.store(false, ordering: .relaxed)
        return writer.withLock { current in
            guard current != nil else { return nil }
            try? current?.flush()
            let recorded = current?.recorded
            current = nil
            return recorded
        }
    }

    /// Records a packet that lies in one piece.
    func record(_ packet: Span<UInt8>, virtio: VirtioHeader? = nil) {
        let time = Clock.unixTime()
        writer.withLock { writer in
            do throws(CaptureError) {
                try writer?.record(packet, virtio: virtio, at: time)
            } catch {
                writer = nil
                end(error)
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
                end(error)
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
                end(error)
            }
        }
    }

    private func end(_ error: CaptureError) {
        running.store(false, ordering: .relaxed)
        StandardError.write("event=capture-ended level=warning cause=\"\(error)\"\n")
    }
}
