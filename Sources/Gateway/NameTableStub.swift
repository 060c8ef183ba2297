import Addresses
import Bytes
final class NameTable: Sendable {
    func isFake(_ address: IPAddress) -> Bool { false }
    func name(of address: IPAddress) -> String? { nil }
    func retain(_ address: IPAddress) -> Bool { false }
    func release(_ address: IPAddress, now: Instant) {}
    func seen(_ address: IPAddress, by device: IPAddress, now: Instant) -> [String] { [] }
}
