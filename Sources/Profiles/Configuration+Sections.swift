/// The sections that take effect with a start alone; everything else is followed while the gateway runs.

extension Configuration {
    /// The names of those that differ from another configuration's.
    public func sections(differingFrom other: Configuration) -> [String] {
        var names: [String] = []
        if tunnel != other.tunnel { names.append("tun") }
        if network != other.network { names.append("network") }
        if socks != other.socks { names.append("socks") }
        if http != other.http { names.append("http") }
        if dns != other.dns { names.append("dns") }
        if state != other.state { names.append("state") }
        if limits != other.limits { names.append("limits") }
        if log != other.log { names.append("log") }
        if gateway != other.gateway { names.append("gateway") }
        if control != other.control { names.append("control") }
        if push != other.push { names.append("push") }
        if peers != other.peers { names.append("peers") }
        if metrics != other.metrics { names.append("metrics") }
        // The page follows by itself, unless whole routes are to come or go with it.
        if network.setup != other.network.setup, page?.port != other.page?.port { names.append("page") }
        return names
    }

    /// This configuration with those sections as another one has them.
    func withSections(of other: Configuration) -> Configuration {
        var whole = self
        whole.tunnel = other.tunnel
        whole.network = other.network
        whole.socks = other.socks
        whole.http = other.http
        whole.dns = other.dns
        whole.state = other.state
        whole.limits = other.limits
        whole.log = other.log
        whole.gateway = other.gateway
        whole.control = other.control
        whole.push = other.push
        whole.peers = other.peers
        whole.metrics = other.metrics
        if network.setup != other.network.setup {
            whole.page = other.page.map { page in
                var page = page
                page.viewers = self.page?.viewers ?? []
                return page
            }
        }
        return whole
    }
}

extension ResolvedConfiguration {
    /// The same rules, with the sections that take effect with a start alone as another configuration has them: a mark
    /// or a pool that only half of the gateway knows of would lead its own packets astray.
    public func withSections(of other: Configuration) -> ResolvedConfiguration {
        ResolvedConfiguration(configuration.withSections(of: other), like: self)
    }
}
