/// Instructions of the kernel's packet filter, of which seccomp's filters are made.

/// One instruction, in the kernel's own layout (`struct sock_filter` of linux/filter.h).
struct FilterInstruction: Equatable, Sendable {
    var code: UInt16
    /// How many instructions are passed over when a comparison holds, and when it does not.
    var ifTrue: UInt8 = 0
    var ifFalse: UInt8 = 0
    var value: UInt32

    /// The octets of an instruction.
    static let length = 8

    // The codes that are used (BPF_LD | BPF_W | BPF_ABS and so on).
    static let loadCode: UInt16 = 0x20
    static let andCode: UInt16 = 0x54
    static let jumpCode: UInt16 = 0x05
    static let ifEqualCode: UInt16 = 0x15
    static let ifAtLeastCode: UInt16 = 0x35
    static let returnCode: UInt16 = 0x06

    /// Reads a word of what a filter sees of a call (`struct seccomp_data` of linux/seccomp.h).
    static func load(_ place: Place) -> FilterInstruction { .init(code: loadCode, value: place.offset) }

    static func and(_ mask: UInt32) -> FilterInstruction { .init(code: andCode, value: mask) }

    static func jump(over count: Int) -> FilterInstruction { .init(code: jumpCode, value: UInt32(count)) }

    static func ifEqual(_ value: UInt32, skip: Int, otherwise: Int) -> FilterInstruction {
        .init(code: ifEqualCode, ifTrue: UInt8(skip), ifFalse: UInt8(otherwise), value: value)
    }

    static func ifAtLeast(_ value: UInt32, skip: Int, otherwise: Int) -> FilterInstruction {
        .init(code: ifAtLeastCode, ifTrue: UInt8(skip), ifFalse: UInt8(otherwise), value: value)
    }

    static func answer(_ action: FilterAction) -> FilterInstruction { .init(code: returnCode, value: action.rawValue) }

    /// Where in `struct seccomp_data` something is; both machines are little-endian.
    enum Place {
        case number
        case architecture
        case argument(Int)

        var offset: UInt32 {
            switch self {
            case .number: 0
            case .architecture: 4
            case .argument(let index): UInt32(16 + 8 * index)
            }
        }
    }
}

/// What a filter answers (SECCOMP_RET_ in linux/seccomp.h).
struct FilterAction: Equatable, Sendable {
    let rawValue: UInt32

    static let allow = FilterAction(rawValue: 0x7fff_0000)
    static let killProcess = FilterAction(rawValue: 0x8000_0000)

    static func fail(_ errno: CInt) -> FilterAction { FilterAction(rawValue: 0x0005_0000 | UInt32(errno) & 0xffff) }
}
