/// The kernel's configuration sockets (netlink(7)): questions with all answers at once, and news.

internal import CLinux
internal import Glibc

/// A netlink socket.
struct NetlinkSocket: ~Copyable, Sendable {
    enum Family: CInt {
        /// NETLINK_ROUTE.
        case route = 0
        /// NETLINK_NETFILTER.
        case netfilter = 12
    }

    enum Reading {
        case datagram([UInt8])
        case nothing
        /// Messages were lost, because we were too slow (ENOBUFS).
        case overrun
        case failed(ErrorNumber)
    }

    let descriptor: OwnedDescriptor

    /// Opens a socket; with `groups` (a mask) it brings news and never blocks.
    init(_ family: Family, groups: UInt32 = 0) throws(SystemCallError) {
        let number = clinux_netlink(family.rawValue, groups, groups == 0 ? 1 : 0)
        guard number >= 0 else { throw SystemCallError("socket", "netlink", negative: number) }
        descriptor = OwnedDescriptor(owning: number)
    }

    /// Reads one datagram; with MSG_DONTWAIT among the flags it is there or is not.
    func read(_ flags: CInt = 0) -> Reading {
        // The kernel fills at most 32 KiB.
        let size = 65_536
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { space, filled in
            count = retrying { unsafe recv(descriptor.number, space.baseAddress, size, flags) }
            filled = max(0, count)
        }
        if count > 0 { return .datagram(bytes) }
        switch CInt(-count) {
        case 0, EAGAIN: return .nothing
        case ENOBUFS: return .overrun
        case let reason: return .failed(ErrorNumber(rawValue: reason))
        }
    }

    /// Asks for everything of one kind; `body` is the fixed part of the question, and `reading` says what to keep.
    ///
    /// A table that changes while it is read out is read again. It is never here as a whole: a router's connections
    /// take megabytes.
    func dump<Item>(
        _ type: UInt16, body: [UInt8], reading: (NetlinkMessage) -> Item?
    ) throws(SystemCallError) -> [Item] {
        for _ in 0..<8 {
            try ask(type, flags: NLM_F_ROOT | NLM_F_MATCH, body)
            if let items = try answers(reading) { return items }
        }
        throw SystemCallError("netlink dump", "\(type)", errno: ErrorNumber(rawValue: EINTR))
    }

    /// Asks for one thing to be done, and waits until it is or is refused.
    func request(_ type: UInt16, body: [UInt8]) throws(SystemCallError) {
        try ask(type, flags: NLM_F_ACK, body)
        // An acknowledgement is an error of number 0.
        guard case .datagram(let datagram) = read(), let answer = NetlinkMessage.split(datagram).first,
            CInt(answer.type) == NLMSG_ERROR, answer.payload.count >= 4
        else { throw SystemCallError("netlink request", "\(type)", errno: ErrorNumber(rawValue: EIO)) }
        let code = CInt(bitPattern: answer.payload.native32(at: 0))
        guard code == 0 else { throw SystemCallError("netlink request", "\(type)", negative: code) }
    }

    /// Asks for one thing, which the kernel answers at once; nil where there is none.
    func question(_ type: UInt16, body: [UInt8]) -> NetlinkMessage? {
        let waitsNot = CInt(MSG_DONTWAIT)
        // Whatever is left of an earlier question is not the answer to this one.
        while case .datagram = read(waitsNot) {}
        guard (try? ask(type, flags: 0, body)) != nil, case .datagram(let datagram) = read(waitsNot),
            let answer = NetlinkMessage.split(datagram).first, CInt(answer.type) != NLMSG_ERROR
        else { return nil }
        return answer
    }

    private func ask(_ type: UInt16, flags: CInt, _ body: [UInt8]) throws(SystemCallError) {
        var question: [UInt8] = []
        question.appendNative(UInt32(NetlinkMessage.headerLength + body.count))
        question.appendNative(type)
        question.appendNative(UInt16(NLM_F_REQUEST | flags))
        question.appendNative(1 as UInt32)
        question.appendNative(0 as UInt32)
        question += body
        let count = unsafe question.withUnsafeBytes { bytes in
            retrying { unsafe send(descriptor.number, bytes.baseAddress, bytes.count, 0) }
        }
        guard count == question.count else { throw SystemCallError("send", "netlink", negative: CInt(count)) }
    }

    /// All answers to the one question; nil when the kernel says that they do not fit together.
    private func answers<Item>(_ reading: (NetlinkMessage) -> Item?) throws(SystemCallError) -> [Item]? {
        var items: [Item] = []
        var isConsistent = true
        while true {
            guard case .datagram(let datagram) = read() else { return nil }
            if datagram.count >= 8, datagram.native16(at: 6) & UInt16(NLM_F_DUMP_INTR) != 0 { isConsistent = false }
            for message in NetlinkMessage.split(datagram) {
                switch CInt(message.type) {
                case NLMSG_DONE: return isConsistent ? items : nil
                case NLMSG_ERROR:
                    let code = message.payload.count >= 4 ? CInt(bitPattern: message.payload.native32(at: 0)) : -EIO
                    throw SystemCallError("netlink dump", negative: code)
                default: if let item = reading(message) { items.append(item) }
                }
            }
        }
    }
}
