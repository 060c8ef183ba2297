/// Devices that refuse a certificate behind an upstream: told to whoever can say what to do about it.

public import Addresses
public import Bytes
import Flows
import LinuxIO
import Synchronization
import Upstreams

/// One flow that ended because its client refused the certificate.
public struct CertificateRefusal: Sendable {
    public var device: IPAddress
    /// The target's name, or its address.
    public var host: String
    /// The id of the profile whose upstream it went through.
    public var profile: String
    public var at: Instant
}

/// What workers have met and nobody has taken yet.
final class RefusalBox: Sendable {
    /// More than so many at once say nothing new.
    static let limit = 256

    private let content = Mutex<[CertificateRefusal]>([])

    func put(_ refusal: CertificateRefusal) {
        content.withLock { if $0.count < Self.limit { $0.append(refusal) } }
    }

    func takeAll() -> [CertificateRefusal] {
        content.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}

extension Gateway {
    /// The refusals since the last time.
    public func takeRefusals() -> [CertificateRefusal] { shared.refusals.takeAll() }
}

extension Worker {
    func tellOfRefusal(_ flow: borrowing Flow) {
        guard let outbound = flow.outbound, outbound.server != nil else { return }
        shared.refusals.put(
            CertificateRefusal(
                device: flow.key.client.address, host: flow.name ?? flow.key.target.address.description,
                profile: flow.profile, at: now))
        shared.tellOfUpstreams()
    }
}
