/// Settings of interfaces through netlink, where their files may not be written.

import Testing

@testable import LinuxIO

@Suite(.enabled(if: Namespace.isAvailable))
struct InterfaceSettingTests {
    @Test(
        "a setting that is made through netlink is what its file says",
        arguments: [
            ("net/ipv4/conf/lo/rp_filter", "2"), ("net/ipv4/conf/lo/send_redirects", "0"),
            ("net/ipv4/conf/lo/forwarding", "1"), ("net/ipv4/conf/lo/accept_redirects", "0"),
            ("net/ipv6/conf/lo/addr_gen_mode", "1"),
        ])
    func makes(name: String, value: String) throws {
        try Namespace.run {
            let before = Sysctl.value(of: name)
            #expect(before != nil && before != value, "\(String(describing: before))")
            let isMade = try Sysctl.setThroughNetlink(name, to: value)
            #expect(isMade)
            #expect(Sysctl.value(of: name) == value)
        }
    }

    @Test(
        "what has a file alone is left to it",
        arguments: [
            "net/ipv4/ip_forward", "net/ipv4/conf/all/rp_filter", "net/ipv4/conf/default/rp_filter",
            "net/ipv6/conf/lo/forwarding", "net/ipv4/conf/lo/log_martians", "kernel/panic",
        ])
    func leaves(name: String) throws {
        let isMade = try Namespace.run { try Sysctl.setThroughNetlink(name, to: "1") }
        #expect(!isMade)
    }
}
