/// # How the filter decides
///
/// A program for each machine, as a value: it refuses calls of another architecture, finds the call's number among the
/// ranges that share a verdict by halving them, and looks at arguments only where a verdict asks for them. What depends
/// on the number alone the kernel answers from a bitmap without running the program (since Linux 5.11), so the calls of
/// the data path cost what they cost without a filter.

internal import Glibc

struct SystemCallFilter: Equatable, Sendable {
    /// A machine that the list has numbers for, by its AUDIT_ARCH_ value (linux/audit.h).
    enum Machine: UInt32, CaseIterable, Sendable {
        case x86 = 0xc000_003e
        case arm = 0xc000_00b7

        /// The one that this program was built for, if there is a filter for it.
        static var own: Machine? {
            #if arch(x86_64)
            .x86
            #elseif arch(arm64)
            .arm
            #else
            nil
            #endif
        }

        func number(of call: SystemCall) -> UInt32? { self == .x86 ? call.x86 : call.arm }
    }

    let instructions: [FilterInstruction]

    /// Numbers from `start` to the next range's have one verdict.
    private struct Range {
        var start: UInt32
        var verdict: SystemCall.Verdict
    }

    /// The filter for a machine; `process` is the one whose threads may be sent signals.
    init(for machine: Machine, process: UInt32) {
        let calls = SystemCall.allowed + SystemCall.deadly + [SystemCall.ownThreads(of: process)]
        let ranges = Self.ranges(of: calls, on: machine)
        instructions =
            [
                .load(.architecture), .ifEqual(machine.rawValue, skip: 1, otherwise: 0), .answer(.killProcess),
                .load(.number),
            ] + Self.search(ranges[...])
    }

    private static func ranges(of calls: [SystemCall], on machine: Machine) -> [Range] {
        var verdicts: [UInt32: SystemCall.Verdict] = [:]
        for call in calls {
            if let number = machine.number(of: call) { verdicts[number] = call.verdict }
        }
        var ranges: [Range] = []
        for number in 0...SystemCall.newest {
            let verdict = verdicts[number] ?? .fails(EPERM)
            if ranges.last?.verdict != verdict { ranges.append(Range(start: number, verdict: verdict)) }
        }
        return ranges + [Range(start: SystemCall.newest + 1, verdict: .fails(ENOSYS))]
    }

    /// Halves the ranges until one is left.
    private static func search(_ ranges: ArraySlice<Range>) -> [FilterInstruction] {
        guard ranges.count > 1 else { return ranges.first.map { answer($0.verdict) } ?? [] }
        let middle = ranges.startIndex + ranges.count / 2
        let (lower, upper) = (search(ranges[..<middle]), search(ranges[middle...]))
        let start = ranges[middle].start
        // A comparison reaches no further than 255 instructions.
        guard lower.count > 255 else { return [.ifAtLeast(start, skip: lower.count, otherwise: 0)] + lower + upper }
        return [.ifAtLeast(start, skip: 0, otherwise: 1), .jump(over: lower.count)] + lower + upper
    }

    private static func answer(_ verdict: SystemCall.Verdict) -> [FilterInstruction] {
        switch verdict {
        case .allowed: [.answer(.allow)]
        case .fails(let errno): [.answer(.fail(errno))]
        case .deadly: [.answer(.killProcess)]
        case .allowedIf(let test): [.load(.argument(test.argument))] + comparisons(test)
        }
    }

    private static func comparisons(_ test: ArgumentTest) -> [FilterInstruction] {
        let (no, yes) = (FilterInstruction.answer(.fail(EPERM)), FilterInstruction.answer(.allow))
        switch test {
        case .oneOf(_, let values):
            return values.enumerated().map { .ifEqual($1, skip: values.count - $0, otherwise: 0) } + [no, yes]
        case .bits(_, let mask, let wanted):
            return [.and(mask), .ifEqual(wanted, skip: 1, otherwise: 0), no, yes]
        case .bitsDiffer(_, let mask, let unwanted):
            return [.and(mask), .ifEqual(unwanted, skip: 0, otherwise: 1), no, yes]
        }
    }
}
