/// The encoding of names in other scripts, by the samples of its RFC.

import Testing

@testable import Routing

struct PunycodeTests {
    /// A sample of RFC 3492, section 7.1: its letter there, the text, and what it is encoded as.
    struct Sample: Sendable, CustomTestStringConvertible {
        let letter: Character
        let scalars: [UInt32]
        let encoded: String

        init(_ letter: Character, text: String, _ encoded: String) {
            (self.letter, self.encoded) = (letter, encoded)
            scalars = text.unicodeScalars.map(\.value)
        }

        /// As the RFC lists them: a number for each character.
        init(_ letter: Character, _ numbers: String, _ encoded: String) {
            (self.letter, self.encoded) = (letter, encoded)
            scalars = numbers.split(separator: " ").compactMap { UInt32($0, radix: 16) }
        }

        var testDescription: String { "\(letter): \(encoded)" }
    }

    // The RFC's (I) has one capital, an annotation of mixed case (appendix A) that names do not have.
    static let samples = [
        Sample(
            "A", "644 64a 647 645 627 628 62a 643 644 645 648 634 639 631 628 64a 61f", "egbpdaj6bu4bxfgehfvwxn"),
        Sample("B", "4ed6 4eec 4e3a 4ec0 4e48 4e0d 8bf4 4e2d 6587", "ihqwcrb4cv8a8dqg056pqjye"),
        Sample("C", "4ed6 5011 7232 4ec0 9ebd 4e0d 8aaa 4e2d 6587", "ihqwctvzc91f659drss3x8bo0yb"),
        Sample("D", text: "Pro\u{10d}prost\u{11b}nemluv\u{ed}\u{10d}esky", "Proprostnemluvesky-uyb24dma41a"),
        Sample(
            "E", "5dc 5de 5d4 5d4 5dd 5e4 5e9 5d5 5d8 5dc 5d0 5de 5d3 5d1 5e8 5d9 5dd 5e2 5d1 5e8 5d9 5ea",
            "4dbcagdahymbxekheh6e0a7fei0b"),
        Sample(
            "F",
            "92f 939 932 94b 917 939 93f 928 94d 926 940 915 94d 92f 94b 902 928 939 940 902 92c 94b 932 938 915 924 "
                + "947 939 948 902", "i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd"),
        Sample(
            "G",
            "306a 305c 307f 3093 306a 65e5 672c 8a9e 3092 8a71 3057 3066 304f 308c 306a 3044 306e 304b",
            "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
        Sample(
            "H",
            "c138 acc4 c758 baa8 b4e0 c0ac b78c b4e4 c774 d55c ad6d c5b4 b97c c774 d574 d55c b2e4 ba74 c5bc b9c8 b098 "
                + "c88b c744 ae4c", "989aomsvi5e83db1d2a355cv1e0vak1dwrv93d5xbh15a0dt30a5jpsd879ccm6fea98c"),
        Sample(
            "I",
            "43f 43e 447 435 43c 443 436 435 43e 43d 438 43d 435 433 43e 432 43e 440 44f 442 43f 43e 440 443 441 441 "
                + "43a 438", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        Sample(
            "J", text: "Porqu\u{e9}nopuedensimplementehablarenEspa\u{f1}ol",
            "PorqunopuedensimplementehablarenEspaol-fmd56a"),
        Sample(
            "K", text: "T\u{1ea1}isaoh\u{1ecd}kh\u{f4}ngth\u{1ec3}ch\u{1ec9}n\u{f3}iti\u{1ebf}ngVi\u{1ec7}t",
            "TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g"),
        Sample("L", "33 5e74 42 7d44 91d1 516b 5148 751f", "3B-ww4c5e180e575a65lsy2b"),
        Sample(
            "M", text: "\u{5b89}\u{5ba4}\u{5948}\u{7f8e}\u{6075}-with-SUPER-MONKEYS",
            "-with-SUPER-MONKEYS-pc58ag80a8qai00g7n9n"),
        Sample(
            "N", text: "Hello-Another-Way-\u{305d}\u{308c}\u{305e}\u{308c}\u{306e}\u{5834}\u{6240}",
            "Hello-Another-Way--fc4qua05auwb3674vfr0b"),
        Sample("O", "3072 3068 3064 5c4b 6839 306e 4e0b 32", "2-u9tlzr9756bt3uc0v"),
        Sample(
            "P", text: "Maji\u{3067}Koi\u{3059}\u{308b}5\u{79d2}\u{524d}", "MajiKoi5-783gue6qz075azm5e"),
        Sample("Q", "30d1 30d5 30a3 30fc 64 65 30eb 30f3 30d0", "de-jg4avhby1noc0d"),
        Sample("R", "305d 306e 30b9 30d4 30fc 30c9 3067", "d9juau41awczczp"),
        Sample("S", text: "-> $1.00 <-", "-> $1.00 <--"),
    ]

    @Test("encodes as the samples of RFC 3492, section 7.1", arguments: samples)
    func sample(_ sample: Sample) {
        #expect(String(decoding: Punycode.encode(sample.scalars), as: UTF8.self) == sample.encoded)
    }
}
