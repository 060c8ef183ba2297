/// SHA-256, HMAC, CRC-32 and Base64 against the vectors of their standards.

import Digest
import Testing

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }.joined()
}

struct DigestSHA256Tests {
    @Test(
        "SHA-256 gives the example values of NIST (FIPS 180-4 examples, CAVP short messages)",
        arguments: [
            (message: "", digest: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (message: "abc", digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                message: "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                digest: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                message: "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                    + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                digest: "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func examples(message: String, digest: String) {
        let bytes = Array(message.utf8)
        #expect(hex(SHA256.digest(bytes.span)) == digest)
    }

    @Test("SHA-256 of a million times the letter a, in pieces of uneven size")
    func million() {
        let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        var hash = SHA256()
        var offset = 0
        var size = 1
        while offset < letters.count {
            let end = min(letters.count, offset + size)
            hash.update(letters.span.extracting(offset..<end))
            offset = end
            size = (size * 7 + 3) % 9973
        }
        #expect(hex(hash.finish()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test("every split of a message gives the same digest", arguments: 0...130)
    func splits(at: Int) {
        let message = [UInt8](0..<130)
        var hash = SHA256()
        hash.update(message.span.extracting(0..<at))
        hash.update(message.span.extracting(at..<130))
        #expect(hash.finish() == SHA256.digest(message.span))
    }

    @Test(
        "HMAC-SHA-256 gives the values of RFC 4231",
        arguments: [
            (
                key: [UInt8](repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
                signature: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
                signature: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                key: [UInt8](repeating: 0xaa, count: 20), message: [UInt8](repeating: 0xdd, count: 50),
                signature: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                key: [UInt8](1...25), message: [UInt8](repeating: 0xcd, count: 50),
                signature: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
            (
                key: [UInt8](repeating: 0xaa, count: 131),
                message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                signature: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            (
                key: [UInt8](repeating: 0xaa, count: 131),
                message: Array(
                    ("This is a test using a larger than block-size key and a larger than block-size data."
                        + " The key needs to be hashed before being used by the HMAC algorithm.").utf8),
                signature: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
            ),
        ])
    func hmac(key: [UInt8], message: [UInt8], signature: String) {
        #expect(hex(HMACSHA256.sign(message.span, key: key.span)) == signature)
        var pieces = HMACSHA256(key: key.span)
        for index in message.indices { pieces.update(message.span.extracting(index..<index + 1)) }
        #expect(hex(pieces.finish()) == signature)
    }

    @Test("secrets are equal only octet by octet")
    func constantTime() {
        let secret: [UInt8] = [1, 2, 3]
        let same: [UInt8] = [1, 2, 3]
        let other: [UInt8] = [1, 2, 2]
        let longer: [UInt8] = [1, 2, 3, 0]
        let results = [
            equalInConstantTime(secret.span, same.span), equalInConstantTime(secret.span, other.span),
            equalInConstantTime(secret.span, longer.span),
        ]
        #expect(results == [true, false, false])
    }
}

struct DigestCRC32Tests {
    @Test(
        "CRC-32 gives the check value of its catalogue entry and the one of an empty PNG end chunk",
        arguments: [
            (message: "123456789", checksum: UInt32(0xcbf4_3926)), (message: "IEND", checksum: 0xae42_6082),
            (message: "", checksum: 0),
        ])
    func check(message: String, checksum: UInt32) {
        let bytes = Array(message.utf8)
        #expect(CRC32.checksum(bytes.span) == checksum)
    }
}

struct DigestBase64Tests {
    @Test(
        "Base64 writes and reads the vectors of RFC 4648, section 10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(plain: String, text: String) throws {
        let bytes = Array(plain.utf8)
        #expect(Base64.standard.encode(bytes.span) == text)
        #expect(try Base64.standard.decode(text) == bytes)
        let unpadded = String(text.prefix { $0 != "=" })
        #expect(Base64.url.encode(bytes.span) == unpadded)
        #expect(try Base64.url.decode(unpadded) == bytes)
    }

    @Test("the alphabets differ in the last two characters")
    func alphabets() throws {
        let bytes: [UInt8] = [0xfb, 0xff, 0xbf]
        #expect(Base64.standard.encode(bytes.span) == "+/+/")
        #expect(Base64.url.encode(bytes.span) == "-_-_")
        #expect(try Base64.url.decode("-_-_") == bytes)
    }

    @Test(
        "Base64 refuses every other spelling of a value",
        arguments: [
            (Base64.standard, "Zg", Base64Error.length), (.standard, "Zg=", .length), (.standard, "Zg==\n", .length),
            (.standard, "Z===", .character(offset: 1)), (.standard, "====", .character(offset: 0)),
            (.standard, "Zh==", .slack), (.standard, "Zm9=", .slack), (.standard, "Zm-v", .character(offset: 2)),
            (.standard, "Zg==Zg==", .character(offset: 2)), (.url, "Zg==", .character(offset: 2)), (.url, "Z", .length),
            (.url, "Zh", .slack), (.url, "Zm9", .slack), (.url, "Zm+v", .character(offset: 2)),
            (.url, "Zm 9", .character(offset: 2)),
        ])
    func refuses(alphabet: Base64, text: String, error: Base64Error) {
        #expect(throws: error) { try alphabet.decode(text) }
    }
}
