/// What whoever judges upstreams has to know of them.

public import Upstreams

extension Gateway {
    /// The upstream of a profile; of a group that of the member that is asked first.
    public func upstream(ofProfile position: Int) -> Upstream { shared.policy.upstreams[position] }

    /// Asks for a target's addresses of our own service, which never gives us a fake one; nil where there is none.
    public var targetResolver: TargetResolver? {
        guard let service = shared.service else { return nil }
        return { name, ticket, reply in service.resolve(NameRequest(name: name, ticket: ticket, reply: reply)) }
    }
}
