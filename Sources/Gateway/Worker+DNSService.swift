/// Streams that are carried to the gateway's own DNS service, which has to know whose they are.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay
import Wire

extension Worker {
    /// Notes which device asks through a flow's upstream socket.
    ///
    /// To be called when the service's listener has taken the flow, before any of its octets go there; the end of the
    /// flow takes it back.
    mutating func noteDNSClient(_ handle: Handle) {
        guard flows[handle].upstream != nil, let port = flows[handle].upstream.value.socket.localAddress?.port else {
            return
        }
        flows[handle].servicePort = port
        shared.dnsClients.add(port, over: .tcp, for: flows[handle].key.client.address)
    }
}
