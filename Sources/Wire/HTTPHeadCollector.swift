/// Where the head of a request ends, whatever pieces it comes in.

import Bytes

/// Finds the end of a request's head in a stream that comes in pieces.
///
/// What is not complete yet is kept, 64 KiB at most unless less is said, because the head is rewritten as a whole.
public struct HTTPHeadCollector: Sendable {
    public static let maximumHead = 65536

    /// The octets of the head that earlier pieces brought.
    public private(set) var kept: [UInt8] = []
    private var lineIsEmpty = true
    private var sawText = false
    /// The longest head, in octets.
    private let limit: Int

    public init(limit: Int = maximumHead) { self.limit = limit }

    public var isEmpty: Bool { kept.isEmpty }

    /// Takes bytes and returns how many of them belong to the head once it is complete; nil when it needs more.
    ///
    /// Until then everything is consumed. If `kept` is empty the head is the first octets of `input`, otherwise
    /// it is `kept`. Empty lines before the request are part of what is returned; `HTTPRequestHead` skips them.
    public mutating func collect(_ input: Span<UInt8>) throws(HTTPError) -> Int? {
        for index in input.indices {
            let octet = input[index]
            if octet == ASCII.lineFeed {
                if lineIsEmpty, sawText {
                    guard kept.count + index < limit else { throw .headTooLong }
                    if !kept.isEmpty { kept.append(copying: input.extracting(0..<index + 1)) }
                    return index + 1
                }
                lineIsEmpty = true
            } else if octet != ASCII.carriageReturn {
                lineIsEmpty = false
                sawText = true
            }
        }
        guard kept.count + input.count <= limit else { throw .headTooLong }
        kept.append(copying: input)
        return nil
    }
}
