/// A million suffixes and the names that are asked for, the same in every run.

/// Names are made from their number, so nothing is kept but what a matcher keeps.
struct SuffixCorpus {
    /// A name to ask for, and whether a suffix matches it.
    struct Question {
        var name: String
        var matches: Bool
    }

    /// How many suffixes there are.
    let count: Int

    /// As published lists end, the frequent ones more than once.
    private static let endings = [
        "com", "com", "com", "com", "net", "org", "info", "co.uk", "de", "ru", "com.br", "xyz", "io", "cn", "com.cn",
        "example",
    ]

    /// The suffix with this number; those from `count` on are in no list.
    func suffix(_ number: Int) -> String {
        let bits = Self.scrambled(UInt64(number))
        let ending = Self.endings[Int(bits & 15)]
        // Of the first eight letters no two numbers here have the same.
        var label = Self.letters(bits >> 10, count: 8 + Int(bits >> 4 & 7))
        if number % 4 == 0 { label = Self.letters(bits >> 40, count: 1 + Int(bits >> 7 & 7)) + "." + label }
        return label + "." + ending
    }

    /// Names below suffixes of the list and below others, in a random order; some differ from a suffix by one letter.
    func questions(_ wanted: Int) -> [Question] {
        (0..<wanted).map { number in
            let bits = Self.scrambled(UInt64(number) &+ 0x5eed)
            let listed = suffix(Int(bits % UInt64(count)))
            let label = Self.letters(bits >> 20, count: 3)
            switch number % 8 {
            case 0: return Question(name: listed, matches: true)
            case 1, 2: return Question(name: "\(label).\(listed)", matches: true)
            case 3: return Question(name: "a.\(label).\(listed)", matches: true)
            case 4: return Question(name: "x" + listed, matches: false)
            default: return Question(name: "\(label).\(suffix(count + Int(bits >> 24)))", matches: false)
            }
        }
    }

    /// The list as a file has it, a suffix a line.
    func text() -> [UInt8] {
        var text: [UInt8] = []
        for number in 0..<count {
            text += suffix(number).utf8
            text.append(0x0a)
        }
        return text
    }

    /// So many letters: a number in base 26, the last digit first.
    private static func letters(_ number: UInt64, count: Int) -> String {
        var rest = number
        var text = ""
        for _ in 0..<count {
            text.unicodeScalars.append(Unicode.Scalar(UInt8(ascii: "a") + UInt8(rest % 26)))
            rest /= 26
        }
        return text
    }

    /// SplitMix64: neighbours have nothing in common.
    private static func scrambled(_ number: UInt64) -> UInt64 {
        var value = number &* 0x9e37_79b9_7f4a_7c15
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
