/// Which devices want a resolver of their own, for whoever tells them so.

import Bytes
public import Network

extension Gateway {
    /// Which devices asked another resolver in the last hour; the firewall is asked, which takes a few milliseconds.
    public func insistences() -> [Insistence] { keeper != nil ? keeper.value.insistences() : [] }
}
