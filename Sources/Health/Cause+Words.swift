/// Causes in words: one for programs, a sentence for people.

internal import Bytes

extension Cause {
    /// One word for metrics and JSON; it never changes its meaning.
    public var word: String {
        switch self {
        case .noUplink: "no_uplink"
        case .nameUnknown: "name_unknown"
        case .portClosed: "port_closed"
        case .unreachable: "unreachable"
        case .silent(let step): "\(step.rawValue)_silent"
        case .closed(let step): "\(step.rawValue)_closed"
        case .credentialsRejected: "credentials_rejected"
        case .schemesNotSupported: "schemes_not_supported"
        case .refused: "connect_refused"
        case .socksRefused: "socks_refused"
        case .malformed(let step, _): "\(step.rawValue)_malformed"
        case .originFailing: "origin_failing"
        case .wrongPage: "wrong_page"
        case .slow: "slow"
        case .stale: "stale"
        case .neverTried: "never_tried"
        case .notVerified: "not_verified"
        case .gateway: "gateway"
        case .wayAround: "way_around"
        }
    }

    /// One line in plain words, and what to do where that is plain, for the upstream of this name.
    public func sentence(_ name: String) -> String {
        let name = name.asOneLine
        switch self {
        case .noUplink(let words):
            return "the gateway itself has no way out (\(words.asOneLine)), so nothing is known about \(name):"
                + " check the gateway's cable, Wi-Fi or default route"
        case .nameUnknown(let host):
            return "\(host.asOneLine), the host of \(name), does not resolve: check its spelling and the gateway's DNS"
        case .portClosed:
            return "nobody listens at the port of \(name): start the proxy there, or correct the port"
        case .unreachable(let words): return "no connection to \(name): \(words.asOneLine)"
        case .silent(let step): return Self.silence(name, step)
        case .closed(let step): return Self.closing(name, step)
        case .credentialsRejected:
            return "\(name) rejects the credentials: correct user and password in the profile"
        case .schemesNotSupported(let schemes):
            let list = schemes.map(\.asOneLine).joined(separator: ", ")
            return
                "\(name) accepts only \(list), and Basic is what we speak: have it accept Basic or this gateway's address"
        case .refused(let status, let text): return Self.refusal(name, status, text.asOneLine)
        case .socksRefused(let words): return "\(name) refuses the connection: \(words.asOneLine)"
        case .malformed(.page, let words): return "what comes through \(name) makes no sense: \(words.asOneLine)"
        case .malformed(_, let words):
            return "the answer of \(name) makes no sense (\(words.asOneLine)): is another program at that port?"
        case .originFailing(let words): return "\(name) works, and the page behind it fails: \(words.asOneLine)"
        case .wrongPage(let words):
            return "another page than the one asked for comes through \(name) (a captive portal's?): \(words.asOneLine)"
        case .slow(let time): return "\(name) is slow: a request through it takes \(time.inWords)"
        case .stale(let age): return "the last good request through \(name) is \(age.inWords) old"
        case .neverTried: return "nobody has tried \(name) yet"
        case .notVerified: return "\(name) is not verified: its profile names no page to ask for (health.url)"
        case .gateway(let words): return "the gateway could not try \(name): \(words.asOneLine)"
        case .wayAround(let words): return "\(words.asOneLine), past \(name)"
        }
    }

    private static func silence(_ name: String, _ step: Step) -> String {
        switch step {
        case .connect:
            "\(name) does not answer: is its machine on, its address right, and its port open in its firewall?"
        case .proxy: "\(name) accepts connections and answers nothing: it hangs, restart it"
        case .page: "\(name) opens a tunnel, and no page comes back through it"
        }
    }

    private static func closing(_ name: String, _ step: Step) -> String {
        switch step {
        case .connect: "\(name) closes connections as soon as they are open"
        case .proxy:
            "\(name) closes the connection instead of answering: is it the kind of proxy that the profile says?"
        case .page: "\(name) opens a tunnel, and it is closed before the page comes back"
        }
    }

    private static func refusal(_ name: String, _ status: Int, _ text: String) -> String {
        let answer = text.isEmpty ? "\(status)" : "\(status), \(text)"
        let remedy = status == 403 || status == 405 ? ": its access rules must let this gateway in" : ""
        return "\(name) refuses CONNECT (\(answer))\(remedy)"
    }
}

extension Interval {
    /// A length of time as people say it: `45 ms`, `3.2 s`, `90 s`, `12 min`, `5 h`.
    var inWords: String {
        let milliseconds = max(0, milliseconds)
        let seconds = milliseconds / 1000
        switch milliseconds {
        case ..<1000: return "\(milliseconds) ms"
        case ..<10_000: return "\(seconds).\(milliseconds % 1000 / 100) s"
        case ..<120_000: return "\(seconds) s"
        case ..<7_200_000: return "\(seconds / 60) min"
        case ..<172_800_000: return "\(seconds / 3600) h"
        default: return "\(seconds / 86_400) d"
        }
    }
}

extension String {
    /// The text on one line, at most 200 characters of it, without what turns a terminal's line around.
    var asOneLine: String {
        var line = ""
        for scalar in unicodeScalars.prefix(200) {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                line.append(" ")
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}
