/// Whether the daemon runs, whether it did before, and whether who asks may speak to it.

import LinuxIO
import Network

enum ServiceChecks {
    static func findings(_ sight: Sight) -> [Finding] {
        configuration(sight.setup) + daemon(sight) + history(sight.service.show)
    }

    private static func configuration(_ setup: Sight.Setup) -> [Finding] {
        guard let failure = setup.failure else { return [Finding(.configuration, .ok, "\(setup.file) is right")] }
        guard !setup.isUnreadable else { return [Finding(.configuration, .unseen, failure)] }
        if setup.isMissing {
            return [
                Finding(
                    .configuration, .wrong, failure, meaning: "Without a configuration no daemon starts.",
                    advice:
                        "Where it has another name: --config FILE. Examples are in /usr/share/doc/starship and Configs."
                )
            ]
        }
        return [
            Finding(
                .configuration, .wrong, failure,
                meaning: "The daemon does not start with this file, and a reload keeps what was before.",
                mending: ["starshipd check --config \(setup.file)"])
        ]
    }

    private static func daemon(_ sight: Sight) -> [Finding] {
        let isService = unit(sight.service.show).map { $0["LoadState"] == "loaded" } ?? false
        switch sight.daemon {
        case .running(let running):
            let process = running.process.map { ", process \($0)" } ?? ""
            return [Finding(.service, .ok, "starshipd \(running.version) answers\(process)")]
                + [Finding(.access, .ok, "the control socket may be used")]
                + running.notices.filter { !NetworkExamination.isNotice($0) }.map {
                    Finding(.service, .notice, $0, meaning: "The daemon says so itself (starshipctl status).")
                }
                + running.insists.map {
                    Finding(
                        .names, .notice, $0, meaning: "What this device asks elsewhere is not seen by the gateway.",
                        advice: "Change it on the device.")
                }
        case .absent(let reason):
            return [
                Finding(
                    .service, .wrong, "starshipd is not running: \(sight.setup.socket): \(reason)",
                    meaning: leftovers(sight),
                    mending: [isService ? "systemctl start starshipd" : "starshipd --config \(sight.setup.file)"])
            ]
        case .silent(let process):
            let kill = process.map { "kill -CONT \($0)" }
            return [
                Finding(
                    .service, .wrong, "starshipd does not answer\(process.map { " (process \($0))" } ?? "")",
                    meaning: "It is stopped or stuck: devices on the gateway wait and get nothing.",
                    mending: isService ? ["systemctl restart starshipd"] : [kill].compactMap(\.self))
            ]
        case .forbidden(let group, let user): return [forbidden(sight.setup.socket, group, user)]
        }
    }

    private static func forbidden(_ socket: String, _ group: String?, _ user: String) -> Finding {
        guard let group, group != "root" else {
            return Finding(
                .access, .unseen, "\(socket) is for root alone",
                advice: "Run it with sudo; `control: { group }` in the configuration lets a group in.")
        }
        return Finding(
            .access, .notice, "\(user) is not in the group \(group) of \(socket)",
            meaning: "starshipctl works with sudo alone, and much of this was not looked at.",
            mending: ["usermod -aG \(group) \(user)"], advice: "Log in again after that.")
    }

    /// What becomes of devices' traffic without a daemon.
    private static func leftovers(_ sight: Sight) -> String {
        let rules = sight.machine?.rules.contains { NetworkNames.priorities.contains($0.priority) } ?? false
        return rules
            ? "It ended without a clean stop: what was to be proxied is refused until it runs again "
                + "(or until `starshipd cleanup`)."
            : "Nothing is proxied; devices go direct, or nowhere."
    }

    // The service manager

    /// `systemctl show` as keys and values.
    static func unit(_ show: String?) -> [Substring: Substring]? {
        guard let show else { return nil }
        let pairs = show.split(separator: "\n").compactMap { line -> (Substring, Substring)? in
            guard let equals = line.firstIndex(of: "=") else { return nil }
            return (line[..<equals], line[line.index(after: equals)...])
        }
        return Dictionary(pairs) { first, _ in first }
    }

    private static func history(_ show: String?) -> [Finding] {
        guard let unit = unit(show) else {
            return [Finding(.service, .unseen, "no service manager could be asked (systemctl show starshipd)")]
        }
        guard unit["LoadState"] == "loaded" else {
            return [Finding(.service, .ok, "starshipd is no service of this machine")]
        }
        var findings: [Finding] = []
        let restarts = unit["NRestarts"].flatMap { Int($0) } ?? 0
        let result = unit["Result"] ?? "success"
        let look = ["journalctl -u starshipd -n 100 --no-pager"]
        if unit["ActiveState"] == "failed" || result != "success" {
            let status = unit["ExecMainStatus"].map { ", status \($0)" } ?? ""
            findings.append(
                Finding(
                    .service, .wrong, "the service ended with \(result)\(status)",
                    meaning: "systemd has given up, or waits to start it again; the journal has the reason.",
                    mending: ["systemctl reset-failed starshipd", "systemctl restart starshipd"],
                    advice: "Its last words: \(look[0])"))
        } else if restarts > 0 {
            findings.append(
                Finding(
                    .service, .notice, "the service was started again \(restarts) times by itself",
                    meaning: "It crashed or lost something that it can't be without; devices saw resets each time.",
                    mending: look))
        } else {
            findings.append(Finding(.service, .ok, "the service is \(unit["ActiveState"] ?? "there")"))
        }
        if unit["UnitFileState"] == "disabled" {
            findings.append(
                Finding(
                    .service, .notice, "the service is not started at boot",
                    meaning: "After a reboot nothing is proxied.",
                    mending: ["systemctl enable starshipd"]))
        }
        return findings
    }
}
