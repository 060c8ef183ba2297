/// Applying links: one that somebody typed, or one after the other from a scanner.

import Bytes
import Commands
import Control
import LinuxIO
import Profiles

extension Program {
    /// Looks at what a link would do, asks, and does it.
    func apply(_ application: Application) throws(Failure) -> Int32 {
        let link = if let link = application.link { link } else { try linkFromInput() }
        let check = try ask(application.request(link, check: true))
        if !application.isAgreed {
            guard Terminal.isTerminal(.input), Terminal.isTerminal(.errors) else {
                throw Failure("found no terminal to ask on; expected one, or --yes")
            }
            let preview = ApplyText.preview(Found(try value(of: check)), of: application, style, moment)
            Terminal.write(preview + "Do it? [y/N] ", to: .errors)
            guard Self.isYes(Terminal.read()) else { throw Failure("nothing was changed") }
        } else if !invocation.isJSON {
            print(ApplyText.preview(Found(try value(of: check)), of: application, style, moment))
        }
        return try show(try ask(application.request(link, check: false)), .switched)
    }

    private static func isYes(_ line: [UInt8]?) -> Bool {
        ["y", "yes"].contains(String(decoding: line ?? [], as: UTF8.self).lowercased().filter { !$0.isWhitespace })
    }

    private func linkFromInput() throws(Failure) -> String {
        guard let octets = Terminal.readAll(limit: Link.sizeLimit), let text = String(validating: octets, as: UTF8.self)
        else { throw Failure("standard input: found more than a link has; expected one line with one") }
        do throws(ConfigURLError) {
            _ = try ConfigURL.parse(text, from: .control)
        } catch {
            throw Failure("standard input: \(error)")
        }
        return text.filter { !$0.isNewline }
    }

    // MARK: Scanning

    /// Applies each line of standard input as it comes; no line ends it but the last.
    func scan(_ target: Target?) -> Int32 {
        var session = ScanSession(target: target)
        var cutter = LineCutter()
        while let octets = Terminal.read() {
            for line in cutter.take(octets) { carryOut(line, in: &session) }
        }
        carryOut(cutter.finish(), in: &session)
        if !invocation.isJSON { print(session.summary + "\n") }
        return session.exitCode
    }

    private func carryOut(_ line: [UInt8], in session: inout ScanSession) {
        switch session.take(line, at: Clock.now()) {
        case .nothing: break
        case .refuse(let reason): complain(reason)
        case .sticker(let name):
            do throws(Failure) {
                let device = try found(.device(name))
                session.keep(name, at: Clock.now())
                guard !invocation.isJSON else { return }
                print("\(name) (\(device["profile"].text ?? "no profile")): scan its profile within 60 s\n")
            } catch {
                complain(session.noteRefused(error.message))
            }
        case .apply(let link, let target):
            do throws(Failure) {
                let reply = try ask(.apply(link, target))
                session.noteApplied()
                if invocation.isJSON {
                    _ = try show(reply, .switched)
                } else {
                    print(ScanSession.confirmation(Found(try value(of: reply)), for: target, currentMoment) + "\n")
                }
            } catch {
                complain(session.noteRefused(error.message))
            }
        }
    }

    /// The time of day for what runs for days.
    var currentMoment: Moment {
        let now = Clock.unixTime()
        return Moment(now: now.seconds, zone: Clock.zone(at: now))
    }
}
