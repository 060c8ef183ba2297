/// Captures that begin and end while the gateway runs.

public import Capture
import LinuxIO

extension Gateway {
    /// Begins to write the packets of the TUN device into a file; false when a capture runs already.
    public func startCapture(_ settings: CaptureSettings) throws(GatewayError) -> Bool {
        guard let tap = shared.tap else { return false }
        do throws(CaptureError) {
            return tap.start(try CaptureWriter(settings))
        } catch {
            throw .capture(error)
        }
    }

    /// Ends the capture that runs and returns how many packets it has; nil when none does.
    public func stopCapture() -> Int? { shared.tap?.stop() }
}
