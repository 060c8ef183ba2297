/// Whatever the bytes are, a configuration is read or refused: nothing traps, nothing hangs.

import Profiles
import Testing

/// SplitMix64 (Steele, Lea, Flood): small, seeded, the same everywhere.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}

struct MutationTests {
    /// Pieces that matter to the reader, so that random texts get far.
    static let pieces: [String] = [
        "{", "}", "[", "]", ":", ",", "'", "\"", "\\", "\\u", "\\x4", "0x", "1e", "-", "+", ".", "//", "/*", "*/", "\n",
        "\r\n", "\u{feff}",
        "\u{a0}", "\u{2028}", "null", "true", "NaN", "Infinity", "99999999999999999999", "'30s'", "profiles", "tun",
        "limits", "upstream",
        "id", "type", "'http'", "host", "port", "\u{0}", "😀", "é",
    ]

    static func mutate(_ bytes: [UInt8], with generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 1 where place < bytes.count: bytes.remove(at: place)
            case 2:
                bytes.insert(
                    contentsOf: Array(pieces[Int.random(in: 0..<pieces.count, using: &generator)].utf8), at: place)
            case 3: bytes.removeLast(min(bytes.count - place, Int.random(in: 0...40, using: &generator)))
            default:
                let end = min(bytes.count, place + Int.random(in: 0...30, using: &generator))
                bytes.insert(
                    contentsOf: Array(bytes[place..<end]), at: Int.random(in: 0...bytes.count, using: &generator))
            }
        }
        return bytes
    }

    @Test("changed examples are read or refused, with a place within the text", arguments: UInt64(0)..<8)
    func mutations(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        let originals = try [
            "try.json5", "squid.json5", "gateway.json5", "domain-mode.json5", "lab.json5", "group.json5",
        ].map {
            Array(try example($0).utf8)
        }
        for _ in 0..<400 {
            let original = originals[Int.random(in: 0..<originals.count, using: &generator)]
            let bytes = Self.mutate(original, with: &generator)
            let lines = bytes.reduce(1) { $1 == 0x0a || $1 == 0x0d ? $0 + 1 : $0 }
            do throws(ConfigurationError) {
                let configuration = try Configuration.parse(bytes)
                _ = try configuration.resolve().summary
                #expect(try Configuration.parse(Array(configuration.json.text.utf8)) == configuration, "seed \(seed)")
            } catch {
                let place = try #require(error.position, "seed \(seed)")
                #expect((1...lines).contains(place.line) && place.column >= 1, "seed \(seed)")
                #expect(!error.description.contains("\n"), "seed \(seed)")
                #expect(error.description.utf8.count < 2000, "seed \(seed)")
            }
        }
    }

    @Test(
        "changed states and bodies are read or refused, and what is read is written the same", arguments: UInt64(0)..<4)
    func states(seed: UInt64) throws {
        var random = RandomSettings(seed: seed)
        for _ in 0..<400 {
            let lab = random.lab()
            let state = Self.mutate(Array(lab.json.text.utf8), with: &random.generator)
            if let read = try? LabState.parse(state.span) {
                let written = Array(read.json.text.utf8)
                #expect(try LabState.parse(written.span) == read, "seed \(seed)")
                _ = try EffectiveConfiguration.fitting(file: configuration(minimal()), lab: read)
            }
            let overlay = Self.mutate(Array(lab.overlay.text.utf8), with: &random.generator)
            if let read = try? Overlay.parse(overlay.span) { _ = read.laid(over: lab) }
            let profile = Self.mutate(Array(random.profile("p").json.text.utf8), with: &random.generator)
            if let read = try? Profile.parse(profile.span, id: nil) {
                let written = Array(read.json.text.utf8)
                #expect(try Profile.parse(written.span, id: read.id) == read, "seed \(seed)")
            }
        }
    }

    @Test("random sequences of tokens and octets are read or refused", arguments: UInt64(100)..<108)
    func tokens(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        for _ in 0..<1500 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...40, using: &generator) {
                if Int.random(in: 0..<8, using: &generator) == 0 {
                    bytes.append(UInt8.random(in: 0...255, using: &generator))
                } else {
                    bytes += Array(Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &generator)].utf8)
                }
            }
            _ = json5Error(bytes)
            _ = try? ProxyURL.parse("http://" + String(decoding: bytes, as: UTF8.self))
            _ = try? CommandLineOptions.parse(["--config", "c", "--" + String(decoding: bytes, as: UTF8.self)])
        }
    }

    @Test("a text of brackets, quotes or digits as long as allowed is refused in time", .timeLimit(.minutes(1)))
    func longTexts() {
        for character in ["[", "{", "\"", "9", "a", "/", "\\", "\u{a0}"] {
            let count = JSON5Reader.sizeLimit / character.utf8.count
            _ = json5Error([UInt8](String(repeating: character, count: count).utf8))
        }
        let keys = (0..<80_000).map { "k\($0):0," }.joined()
        #expect(refusal("{\(keys)}")?.code == .unknownKey)
    }
}
