/// Making and opening the TUN device.
///
/// Everything wished for is tried; what the kernel refuses is left out, reported, and the gateway works
/// without it. Address, MTU and "up" are set with ip(8) by whoever starts the gateway.

internal import CLinux
internal import Glibc

/// Which help of the kernel's segmentation is wanted.
public enum OffloadWish: Sendable {
    /// Packets of up to 64 KiB with unfinished checksums both ways, TCP only.
    case full
    /// As `full`, and UDP super-packets too (USO).
    case fullWithUDP
    /// Plain packets of at most the MTU, checksums complete.
    case none
}

/// What the kernel refused of what was wished for.
public struct TunnelRefusals: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// IFF_VNET_HDR or its 12-byte form; then there is no offload at all.
    public static let virtioHeader = TunnelRefusals(rawValue: 1)
    /// TUN_F_CSUM; then there is no segmentation offload either.
    public static let checksum = TunnelRefusals(rawValue: 2)
    /// TUN_F_TSO4 and TUN_F_TSO6.
    public static let segmentation = TunnelRefusals(rawValue: 4)
    /// TUN_F_USO4 and TUN_F_USO6.
    public static let segmentationUDP = TunnelRefusals(rawValue: 8)
    /// IFF_MULTI_QUEUE; then there is one queue.
    public static let multiQueue = TunnelRefusals(rawValue: 16)
}

/// An open TUN device, whose queues its workers take.
///
/// The device lives as long as one of its queues (or for ever, where it was made persistent before).
public struct TunnelDevice: ~Copyable, Sendable {
    /// Whether the device carries IP packets or Ethernet frames.
    public enum Layer: Sendable {
        /// IFF_TUN.
        case network
        /// IFF_TAP.
        case link
    }

    /// The interface's name, as the kernel chose it.
    public let name: String

    /// How many queues were opened: as many as wanted, or 1 where the device has only one.
    public let queueCount: Int

    /// What had to be left out.
    public let refusals: TunnelRefusals

    /// Whether each packet has a virtio-net header of 12 bytes before it.
    public let hasVirtioHeader: Bool

    private var descriptors: [CInt]

    deinit {
        for number in descriptors { _ = close(number) }
    }

    /// Opens the device `name` (`starship%d` lets the kernel number it), making it if it isn't there.
    ///
    /// A name that is taken by another program's device is `ioctl TUNSETIFF name: Device or resource busy`.
    public static func open(
        name: String, queues: Int, offload: OffloadWish = .full, layer: Layer = .network
    ) throws(SystemCallError) -> TunnelDevice {
        precondition(queues > 0, "a device without queues")
        guard !name.isEmpty, name.utf8.count < Int(IFNAMSIZ) else {
            throw SystemCallError("ioctl TUNSETIFF", name, errno: .invalidArgument)
        }
        var opening = Opening(name: name, layer: layer, offload: offload)
        let first = try opening.attachFirst(multiQueue: queues > 1)
        let hasHeader = opening.hasHeader
        var device = TunnelDevice(
            name: opening.name, queueCount: opening.isMultiQueue ? queues : 1,
            refusals: opening.configure(first.number), hasVirtioHeader: hasHeader, descriptors: [])
        device.adopt(first)
        while device.descriptors.count < device.queueCount {
            let next = try opening.attach()
            _ = opening.configure(next.number)
            device.adopt(next)
        }
        // Without CAP_NET_ADMIN a device that was made before keeps the length that it has.
        _ = unsafe clinux_set_queue_length(device.name, CInt(queueLength))
        return device
    }

    /// The packets that may wait for us: a burst of a thousand flows overflows the kernel's 500.
    public static let queueLength = 10_000

    /// Takes one of the queues; nil when all are taken.
    public mutating func takeQueue() -> TunnelQueue? {
        guard let number = descriptors.popLast() else { return nil }
        return TunnelQueue(descriptor: OwnedDescriptor(owning: number), hasVirtioHeader: hasVirtioHeader)
    }

    private mutating func adopt(_ descriptor: consuming OwnedDescriptor) {
        descriptors.append(descriptor.release())
    }
}

/// One attempt to open a device: what it still hopes for, and what it had to give up.
private struct Opening {
    var name: String
    let layer: TunnelDevice.Layer
    let offload: OffloadWish
    var hasHeader: Bool
    var isMultiQueue = false
    var refusals: TunnelRefusals = []

    init(name: String, layer: TunnelDevice.Layer, offload: OffloadWish) {
        self.name = name
        self.layer = layer
        self.offload = offload
        hasHeader = offload != .none
    }

    /// Opens the first queue, giving up the header or the further queues where the kernel insists.
    ///
    /// A device that was made before (`ip tuntap add`) is either multi-queue or not and refuses the other
    /// way with EINVAL, so both ways are tried.
    mutating func attachFirst(multiQueue wanted: Bool) throws(SystemCallError) -> OwnedDescriptor {
        isMultiQueue = wanted
        if hasHeader, let features = Self.features(), features & IFF_VNET_HDR == 0 { dropHeader() }
        do throws(SystemCallError) {
            return try attach()
        } catch  where error.errno != .invalidArgument {
            throw error
        } catch {
            return try attachOtherwise(wanted, refusal: error)
        }
    }

    private mutating func attachOtherwise(
        _ wanted: Bool, refusal: SystemCallError
    ) throws(SystemCallError) -> OwnedDescriptor {
        isMultiQueue = !wanted
        if let other = try? attach() {
            if wanted { refusals.insert(.multiQueue) }
            return other
        }
        guard hasHeader else { throw refusal }
        dropHeader()
        return try attachFirst(multiQueue: wanted)
    }

    private mutating func dropHeader() {
        hasHeader = false
        refusals.insert(.virtioHeader)
    }

    private static func features() -> CInt? {
        guard let any = try? openControl() else { return nil }
        let features = clinux_tun_features(any.number)
        return features < 0 ? nil : features
    }

    private static func openControl() throws(SystemCallError) -> OwnedDescriptor {
        let path = "/dev/net/tun"
        let number = unsafe clinux_open(path, O_RDWR | O_NONBLOCK, 0)
        guard number >= 0 else { throw SystemCallError("open", path, negative: number) }
        return OwnedDescriptor(owning: number)
    }

    /// Opens one more queue with what is still hoped for.
    mutating func attach() throws(SystemCallError) -> OwnedDescriptor {
        let descriptor = try Self.openControl()
        var flags = (layer == .network ? IFF_TUN : IFF_TAP) | IFF_NO_PI
        if hasHeader { flags |= IFF_VNET_HDR }
        if isMultiQueue { flags |= IFF_MULTI_QUEUE }
        var chosen = name.utf8CString.map { $0 }
        chosen += repeatElement(0, count: Int(IFNAMSIZ) - chosen.count)
        let result = unsafe clinux_tun_attach(descriptor.number, &chosen, UInt32(flags))
        guard result == 0 else { throw SystemCallError("ioctl TUNSETIFF", name, negative: result) }
        name = String(decoding: chosen.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if hasHeader {
            let result = clinux_tun_set_header_length(descriptor.number, CInt(TunnelQueue.virtioHeaderLength))
            guard result == 0 else { throw SystemCallError("ioctl TUNSETVNETHDRSZ", name, negative: result) }
        }
        return descriptor
    }

    /// Sets the offloads of a queue, and returns all that was refused up to now.
    mutating func configure(_ number: CInt) -> TunnelRefusals {
        guard hasHeader else {
            // A device that outlived its last owner keeps the offloads of that time.
            _ = clinux_tun_set_offload(number, 0)
            return refusals
        }
        let checksum = UInt(TUN_F_CSUM)
        let segmentation = checksum | UInt(TUN_F_TSO4) | UInt(TUN_F_TSO6)
        if offload == .fullWithUDP {
            let both = segmentation | UInt(TUN_F_USO4) | UInt(TUN_F_USO6)
            if clinux_tun_set_offload(number, both) == 0 { return refusals }
            refusals.insert(.segmentationUDP)
        }
        if clinux_tun_set_offload(number, segmentation) == 0 { return refusals }
        refusals.insert(.segmentation)
        if clinux_tun_set_offload(number, checksum) == 0 { return refusals }
        refusals.insert(.checksum)
        _ = clinux_tun_set_offload(number, 0)
        return refusals
    }
}
