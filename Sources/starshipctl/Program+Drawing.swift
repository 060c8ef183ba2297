/// Drawing codes: on the terminal, into a file, or a page of them.

import Commands
import Control
import LinuxIO
import Page
import Profiles
import QRCode

extension Program {
    func draw(_ plan: QRPlan) throws(Failure) -> Int32 {
        let text = try text(of: plan.subject)
        let code: QRCode
        do throws(QRCodeError) {
            code = try QRCode(text, level: plan.level)
        } catch {
            throw Failure("\(error)")
        }
        var file: String?
        switch plan.output {
        case .terminal(let isInverted):
            if !invocation.isJSON {
                return print(
                    code.terminal(isInverted ? .plain(on: .light) : style.isColoured ? .coloured : .plain(on: .dark)))
            }
        case .svg(let path):
            try write(Array(code.svg().utf8), path)
            file = path
        case .png(let path):
            try write(code.png(), path)
            file = path
        }
        if invocation.isJSON {
            return print(
                JSON.members([
                    "text": .string(text), "version": .integer(code.version.number),
                    "level": .string(code.level.letter), "file": file.map(JSON.string),
                ]).text + "\n")
        }
        return print("\(file ?? ""): \(text)\n")
    }

    private func text(of subject: QRPlan.Subject) throws(Failure) -> String {
        switch subject {
        case .text(let text): return text
        case .profile(let request):
            guard let link = try found(request)["link"].raw else {
                throw Failure("\(client.socket): found an answer without a link; is this starshipd's socket?")
            }
            return link
        }
    }

    private func write(_ octets: [UInt8], _ path: String, mode: UInt32 = 0o644) throws(Failure) {
        do throws(SystemCallError) {
            try SmallFile.replace(path, with: octets, mode: mode)
        } catch {
            throw Failure("\(error)")
        }
    }

    // MARK: The sheet

    func drawSheet(_ plan: SheetPlan) throws(Failure) -> Int32 {
        let network = try network(of: plan)
        let status = try found(.status)
        let profiles = try found(.profiles)
        let devices = try found(.devices)
        var sheet = CodeSheet(gateway: status["gateway"].text ?? "", level: plan.level)
        do throws(QRCodeError) {
            if let network { try sheet.add(network) }
            try sheet.add(profiles: profiles, plan.form)
            try sheet.add(devices: devices)
        } catch {
            throw Failure("\(error)")
        }
        guard !sheet.entries.isEmpty else {
            throw Failure("found nothing to print; expected a profile with selfService: true, or a device with a name")
        }
        let text = plan.format == .svg ? sheet.svg : sheet.html
        // The Wi-Fi's code says its password.
        try write(Array(text.utf8), plan.file, mode: network == nil ? 0o644 : 0o600)
        if invocation.isJSON {
            return print(
                JSON.members(["file": .string(plan.file), "codes": .integer(sheet.entries.count)]).text + "\n")
        }
        return print("\(plan.file): \(sheet.entries.map(\.title).joined(separator: ", "))\n")
    }

    private func network(of plan: SheetPlan) throws(Failure) -> WiFiCode? {
        guard let name = plan.network else { return nil }
        let password = try plan.passwordFile.map(password)
        do throws(WiFiCodeError) {
            return try WiFiCode(network: name, password: password?.revealed)
        } catch {
            let option = error == .network ? "--ssid" : "--password-file"
            throw Failure("\(option): \(error)")
        }
    }

    private func password(in file: String) throws(Failure) -> Secret {
        let octets: [UInt8]
        do throws(FileError) {
            octets = try SmallFile.readSecret(file)
        } catch {
            throw Failure("--password-file: \(error)")
        }
        do throws(SecretError) {
            return try Secret.parse(file: octets.span)
        } catch {
            throw Failure("--password-file: \(file): \(error)")
        }
    }
}
