/// What has to be off on a phone so that its requests come this way, where that stands, and what the phone says then.

enum FirstPhoneCard {
    private struct Row {
        var what: String
        /// Where it stands; nil: this system has no such thing.
        var iOS: String?
        var android: String?
        var says: String
    }

    private static let rows = [
        Row(
            what: "Mobile data",
            iOS: "Settings, Mobile Service (Cellular): turn off Mobile Data",
            android: "Settings, Network & internet, SIMs: turn off Mobile data",
            says: "Calls still work. Apps may say that mobile data is off: close that."),
        Row(
            what: "Wi-Fi Assist",
            iOS: "Settings, Mobile Service (Cellular), at the very bottom: turn off Wi-Fi Assist",
            android: "Settings, Network & internet, Internet, Network preferences: turn off Switch to mobile data "
                + "automatically (its name and place differ by maker)",
            says: "Nothing. While it is on, a dead proxy makes the phone leave this Wi-Fi without a word."),
        Row(
            what: "VPN",
            iOS: "Settings, General, VPN & Device Management, VPN: disconnect, and turn off Connect On Demand",
            android: "Settings, Network & internet, VPN: disconnect, and turn off Always-on VPN",
            says: "The VPN's own app may warn that the phone is not protected."),
        Row(
            what: "Private relay",
            iOS: "Settings, your name, iCloud, Private Relay: off; or Settings, Wi-Fi, (i) beside this network: "
                + "turn off Limit IP Address Tracking",
            android: nil,
            says: "“Private Relay is turned off for this network”, or “not supported”: leave it so."),
        Row(
            what: "Private DNS",
            iOS: "Settings, General, VPN & Device Management, DNS: choose Automatic",
            android: "Settings, Network & internet, Private DNS: Off or Automatic",
            says: "With a fixed server: “Private DNS server cannot be accessed”. Then it is still on."),
        Row(
            what: "“No internet” questions",
            iOS: "When asked, keep using this Wi-Fi",
            android: "When asked, choose Stay connected or Connect anyway, and Don't ask again",
            says: "“Connected, no internet”: the proxy is down or slow. The Wi-Fi itself is fine."),
    ]

    static func markup(isOpen: Bool) -> Markup {
        let content = Markup.joined([
            tag(.p) { "So that everything this phone asks for comes this way:" },
            Markup.joined(rows.map(section)),
        ])
        if isOpen {
            return tag(.section, .labelled(by: "prepare"), .class("card")) {
                tag(.h2, .id("prepare")) { "Prepare this phone, once" }
                content
            }
        }
        return tag(.section, .labelled("Preparing a phone"), .class("card")) {
            tag(.details) {
                tag(.summary) { "Prepare a phone: what to switch off" }
                content
            }
        }
    }

    private static func section(_ row: Row) -> Markup {
        tag(.div) {
            tag(.h3) { row.what }
            tag(.dl) {
                if let iOS = row.iOS {
                    tag(.dt) { "iOS" }
                    tag(.dd) { iOS }
                }
                if let android = row.android {
                    tag(.dt) { "Android" }
                    tag(.dd) { android }
                }
                tag(.dt) { "It says" }
                tag(.dd) { row.says }
            }
        }
    }
}
