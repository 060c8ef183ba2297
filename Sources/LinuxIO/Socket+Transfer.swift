/// Moving bytes: each call is one system call, and "not now" and "the end" are outcomes.

public import Bytes
// In a static build of the whole module MSG_NOSIGNAL is seen as part of CLinux, which includes the same header.
internal import CLinux
internal import Glibc

/// What a read brought.
public enum ReadOutcome: Equatable, Sendable {
    /// So many bytes, at least one.
    case bytes(Int)
    /// The peer has finished sending.
    case end
    case wouldBlock
    /// The connection is over: reset, timed out, and so on.
    case failed(ErrorNumber)
}

/// What became of a write.
public enum WriteOutcome: Equatable, Sendable {
    /// So many bytes were taken, perhaps fewer than given.
    case bytes(Int)
    case wouldBlock
    /// The connection is over: reset, closed by the peer, timed out.
    case failed(ErrorNumber)
}

extension Socket {
    /// Reads into space of a pool, run by run.
    public func read(into runs: ByteRuns, pool: inout BufferPool) -> ReadOutcome {
        precondition(runs.byteCount > 0, "a read without room")
        let count = unsafe withSystemVectors(runs, pool) { vectors, count in
            retrying { unsafe readv(descriptor.number, vectors, count) }
        }
        return Self.readOutcome(count)
    }

    /// Reads into a span, which must not be empty.
    public func read(into bytes: inout MutableSpan<UInt8>) -> ReadOutcome {
        precondition(bytes.count > 0, "a read without room")
        let count = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            retrying { unsafe recv(descriptor.number, bytes.baseAddress, bytes.count, 0) }
        }
        return Self.readOutcome(count)
    }

    /// Reads up to `limit` bytes behind those that the array has.
    public func read(appendingTo bytes: inout [UInt8], limit: Int) -> ReadOutcome {
        receive(appendingTo: &bytes, limit: limit, flags: 0)
    }

    /// As `read(appendingTo:limit:)`, and what was read stays to be read again (MSG_PEEK).
    public func peek(appendingTo bytes: inout [UInt8], limit: Int) -> ReadOutcome {
        receive(appendingTo: &bytes, limit: limit, flags: CInt(MSG_PEEK))
    }

    /// Writes a span.
    public func write(_ bytes: Span<UInt8>) -> WriteOutcome {
        let count = unsafe bytes.withUnsafeBufferPointer { bytes in
            retrying {
                unsafe send(descriptor.number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            }
        }
        return Self.writeOutcome(count)
    }

    /// Writes runs of a pool, in their order.
    public func write(_ runs: ByteRuns, pool: borrowing BufferPool) -> WriteOutcome {
        let count = unsafe withSystemVectors(runs, pool) { vectors, count in
            var message = unsafe msghdr()
            unsafe message.msg_iov = vectors
            unsafe message.msg_iovlen = Int(count)
            return retrying { unsafe sendmsg(descriptor.number, &message, CInt(MSG_NOSIGNAL)) }
        }
        return Self.writeOutcome(count)
    }

    private func receive(appendingTo bytes: inout [UInt8], limit: Int, flags: CInt) -> ReadOutcome {
        precondition(limit > 0, "a read without room")
        var count = 0
        bytes.append(addingCapacity: limit) { output in
            unsafe output.withUnsafeMutableBufferPointer { space, filled in
                count = retrying { unsafe recv(descriptor.number, space.baseAddress, limit, flags) }
                filled = max(0, count)
            }
        }
        return Self.readOutcome(count)
    }

    static func readOutcome(_ count: Int) -> ReadOutcome {
        if count > 0 { return .bytes(count) }
        switch CInt(-count) {
        case 0: return .end
        case EAGAIN: return .wouldBlock
        case let reason: return .failed(ErrorNumber(rawValue: reason))
        }
    }

    static func writeOutcome(_ count: Int) -> WriteOutcome {
        if count >= 0 { return .bytes(count) }
        switch CInt(-count) {
        // No memory for a buffer right now is "later", not the end of the connection.
        case EAGAIN, ENOBUFS, ENOMEM: return .wouldBlock
        case let reason: return .failed(ErrorNumber(rawValue: reason))
        }
    }
}
