/// Any bytes as a configuration file, a proxy URL, an address or a network.

import Addresses
import Bytes
import Profiles

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    do throws(ConfigurationError) {
        _ = try Configuration.parse(bytes.span)
    } catch {
        precondition(!"\(error)".isEmpty, "a refusal without words")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    _ = try? ProxyURL.parse(text)
    if let address = IPAddress(parsing: text) { precondition(IPAddress(parsing: address.description) == address) }
    if let prefix = IPPrefix(parsing: text) { precondition(IPPrefix(parsing: prefix.description) == prefix) }
    if let end = SocketAddress(parsing: text) { precondition(SocketAddress(parsing: end.description) == end) }
    return 0
}
