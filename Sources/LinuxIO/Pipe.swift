/// A pipe as a shelf for bytes on their way between two sockets (splice).

internal import CLinux
internal import Glibc

/// Bytes that stay in the kernel: what a socket received moves through the pipe into another one, page by
/// page and not copied.
public struct Pipe: ~Copyable, Sendable {
    private let output: OwnedDescriptor
    private let input: OwnedDescriptor

    /// Opens a pipe of about `capacity` bytes; the kernel's own size stands where it grants no more.
    public init(capacity: Int) throws(SystemCallError) {
        var numbers: (CInt, CInt) = (-1, -1)
        let result = unsafe withUnsafeMutableBytes(of: &numbers) { bytes in
            unsafe clinux_pipe(bytes.baseAddress?.assumingMemoryBound(to: CInt.self), CInt(clamping: capacity))
        }
        guard result >= 0 else { throw SystemCallError("pipe2", negative: result) }
        output = OwnedDescriptor(owning: numbers.0)
        input = OwnedDescriptor(owning: numbers.1)
    }

    /// Moves up to `limit` bytes that the socket has received into the pipe.
    ///
    /// `wouldBlock` says that the socket has nothing or that the pipe is full.
    public func fill(from socket: borrowing Socket, limit: Int) -> ReadOutcome {
        Socket.readOutcome(move(from: socket.descriptor.number, to: input.number, limit))
    }

    /// Moves up to `limit` bytes from the pipe into the socket's send buffer.
    public func drain(into socket: borrowing Socket, limit: Int) -> WriteOutcome {
        Socket.writeOutcome(move(from: output.number, to: socket.descriptor.number, limit))
    }

    /// Puts a copy of bytes into the pipe, as many as there is room for.
    public func put(_ bytes: Span<UInt8>) -> WriteOutcome {
        let count = unsafe bytes.withUnsafeBufferPointer { bytes in
            retrying { unsafe write(input.number, bytes.baseAddress, bytes.count) }
        }
        return Socket.writeOutcome(count)
    }

    private func move(from source: CInt, to target: CInt, _ limit: Int) -> Int {
        retrying { clinux_splice(source, target, limit) }
    }
}
