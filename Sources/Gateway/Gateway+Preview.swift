/// What a start would do to the machine's network.

import Addresses
import LinuxIO
import Network

extension Gateway {
    /// The commands, in the order of a start; empty where somebody else makes the routes.
    ///
    /// Nothing is changed.
    ///
    /// What only a running gateway knows is not in it: devices with a profile of their own, and the addresses of names.
    public static func networkPreview(_ settings: GatewaySettings) throws(GatewayError) -> [String] {
        guard let network = settings.network, let tunnel = settings.tunnel else { return [] }
        let keeper: NetworkKeeper
        do throws(SystemCallError) {
            keeper = try NetworkKeeper(
                network, tunnel: tunnel.name, pools: settings.names.map { [$0.pool, $0.pool6] } ?? [],
                dnsPort: settings.names?.server.listen.first?.port)
        } catch {
            throw .system(error)
        }
        var routing = refusingOwn(settings.routing)
        (routing.lanNetworks, routing.scopes) = keeper.networks(of: routing)
        let policy = try policy(routing)
        do throws(NetworkError) {
            return try keeper.preview(policy)
        } catch {
            throw .network(error)
        }
    }
}
