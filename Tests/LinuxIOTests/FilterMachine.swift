/// The kernel's machine for filters, as far as seccomp's programs need it, written after linux/filter.h and
/// Documentation/networking/filter.rst: what a program answers to a call.

@testable import LinuxIO

/// A system call as a filter sees it (`struct seccomp_data`).
struct FilteredCall {
    var number: UInt32
    var architecture: UInt32
    var arguments: [UInt64] = []

    /// The octets, of a little-endian machine.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ value: UInt64, _ count: Int) {
            for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        add(UInt64(number), 4)
        add(UInt64(architecture), 4)
        add(0x7f00_0000_1000, 8)
        for index in 0..<6 { add(index < arguments.count ? arguments[index] : 0, 8) }
        return bytes
    }
}

enum FilterMachine {
    /// Why the kernel would not take a program, or could not run it to an answer.
    enum Fault: Error, Equatable {
        case endless
        case outOfProgram
        case unknown(UInt16)
        case unaligned(UInt32)
    }

    /// The answer to a call; every jump leads forward, so no program runs longer than it is.
    static func answer(_ program: [FilterInstruction], to call: FilteredCall) throws(Fault) -> UInt32 {
        let data = call.bytes
        var accumulator: UInt32 = 0
        var position = 0
        for _ in 0..<program.count {
            guard position < program.count else { throw .outOfProgram }
            let instruction = program[position]
            position += 1
            switch instruction.code {
            // BPF_LD | BPF_W | BPF_ABS
            case 0x20:
                let offset = Int(instruction.value)
                guard offset % 4 == 0, offset + 4 <= data.count else { throw .unaligned(instruction.value) }
                accumulator = (0..<4).reduce(0) { $0 | UInt32(data[offset + $1]) << (8 * $1) }
            // BPF_ALU | BPF_AND | BPF_K
            case 0x54: accumulator &= instruction.value
            // BPF_JMP | BPF_JA
            case 0x05: position += Int(instruction.value)
            // BPF_JMP | BPF_JEQ | BPF_K
            case 0x15: position += Int(accumulator == instruction.value ? instruction.ifTrue : instruction.ifFalse)
            // BPF_JMP | BPF_JGE | BPF_K
            case 0x35: position += Int(accumulator >= instruction.value ? instruction.ifTrue : instruction.ifFalse)
            // BPF_RET | BPF_K
            case 0x06: return instruction.value
            default: throw .unknown(instruction.code)
            }
        }
        throw position < program.count ? .endless : .outOfProgram
    }
}
