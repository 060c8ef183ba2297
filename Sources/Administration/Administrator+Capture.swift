/// Packet captures by request: files of the state directory alone, so that nobody writes elsewhere through us.

import Capture
import Control
import Gateway
import LinuxIO
import Profiles

extension Administrator {
    mutating func startCapture(_ wish: ControlCall.CaptureWish, _ gateway: inout Gateway) throws(ControlError)
        -> ControlAnswer
    {
        let file = wish.file ?? "capture.pcap"
        guard Self.isPlain(file) else {
            throw ControlError(
                .badRequest,
                "file: expected a name of letters, digits, hyphens, dots and underscores: captures are in STATE/captures",
                path: "file")
        }
        guard let state = running.state else {
            throw ControlError(.conflict, "with state: false there is no place for captures")
        }
        let directory = "\(state)/captures"
        var settings = CaptureSettings(path: "\(directory)/\(file)", filter: wish.filter)
        if let snap = wish.snap { settings.snapLength = snap }
        if let size = wish.size { settings.fileSize = size }
        if let files = wish.files { settings.fileCount = files }
        do throws(SystemCallError) {
            _ = try Folder(directory)
        } catch {
            throw ControlError(.storeFailed, "\(error)")
        }
        let hasBegun: Bool
        do throws(GatewayError) {
            hasBegun = try gateway.startCapture(settings)
        } catch {
            if case .capture(.filter) = error { throw ControlError(.badRequest, "filter: \(error)", path: "filter") }
            throw ControlError(.storeFailed, "\(error)")
        }
        guard hasBegun else { throw ControlError(.conflict, "a capture runs already; end it first") }
        captureFile = settings.path
        return ControlAnswer(.members(["file": .string(settings.path)]))
    }

    mutating func stopCapture(_ gateway: inout Gateway) throws(ControlError) -> ControlAnswer {
        guard let packets = gateway.stopCapture() else {
            throw ControlError(.conflict, "no capture runs that could end")
        }
        return ControlAnswer(
            .members(["file": captureFile.map(JSON.string) ?? .null, "packets": .integer(packets)]))
    }

    private static func isPlain(_ name: String) -> Bool {
        let octets = Array(name.utf8)
        let isPlain = octets.allSatisfy { octet in
            (0x30...0x39).contains(octet) || (0x41...0x5a).contains(octet) || (0x61...0x7a).contains(octet)
                || octet == 0x2d || octet == 0x2e || octet == 0x5f
        }
        return isPlain && !octets.isEmpty && octets[0] != 0x2e
    }
}
