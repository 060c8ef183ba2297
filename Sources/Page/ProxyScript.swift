/// The proxy's address for phones that stay on another Wi-Fi (the PAC format of Netscape, 1996).

public import Addresses

public enum ProxyScript {
    /// The text of `/proxy.pac`: all goes to the gateway's HTTP inbound, but for the page and for names without a dot.
    ///
    /// It ends in no `DIRECT`: a request that went around the proxy in silence would be the harder mistake to find.
    /// An address and a number are all that comes in, so there is nothing to inject.
    ///
    /// - Parameters:
    ///   - address: The gateway's on the device's side.
    ///   - port: That of its HTTP inbound.
    /// - Returns: The text of a script in ECMAScript.
    public static func text(address: IPAddress, port: UInt16) -> String {
        // Browsers give an IPv6 host without its brackets, some with them.
        let proxy = SocketAddress(address, port)
        return """
            function FindProxyForURL(url, host) {
              var name = host.toLowerCase();
              if (isPlainHostName(name)) { return "DIRECT"; }
              if (name === "\(address)" || name === "[\(address)]") { return "DIRECT"; }
              if (name === "\(PageGuard.name)" || dnsDomainIs(name, ".\(PageGuard.name)")) { return "DIRECT"; }
              return "PROXY \(proxy)";
            }

            """
    }

    public static func answer(address: IPAddress, port: UInt16) -> PageAnswer {
        PageAnswer(
            status: 200, type: "application/x-ns-proxy-autoconfig",
            body: Array(text(address: address, port: port).utf8))
    }

    /// What this way is for, how it is set, and what it misses.
    static func card(_ context: PageContext, isUsed: Bool) -> Markup {
        tag(.section, .labelled(by: "script"), .class("card")) {
            tag(.h2, .id("script")) { isUsed ? "This phone comes by its proxy setting" : "Stay on another Wi-Fi" }
            if !isUsed {
                tag(.p) { "A phone that must stay on the office's Wi-Fi gives this address as its proxy:" }
                tag(.pre) { "http://\(context.authority)/proxy.pac" }
                tag(.dl) {
                    tag(.dt) { "iOS" }
                    tag(.dd) { "Settings, Wi-Fi, (i) beside the network, Configure Proxy, Automatic" }
                    tag(.dt) { "Android" }
                    tag(.dd) { "Settings, Wi-Fi, the network, edit (pencil), Advanced, Proxy, Proxy Auto-Config" }
                }
            }
            tag(.p) { "What this way misses:" }
            tag(.ul) {
                tag(.li) { "apps that do not obey the Wi-Fi's proxy setting, such as those made with Flutter" }
                tag(.li) { "everything but HTTP and HTTPS: games, calls, push, QUIC" }
                tag(.li) { "names that the phone asks other DNS servers for: domains can't be learnt" }
                tag(.li) { "another gateway address: the setting has to be changed by hand then" }
            }
        }
    }
}
