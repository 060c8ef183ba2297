/// JSON5 as its specification has it, and where the reader is stricter.

import Profiles
import Testing

/// Reads a text that must be right.
func json5(_ text: String) throws(ConfigurationError) -> JSON5Value.Content {
    let bytes = Array(text.utf8)
    return try JSON5Reader.read(bytes.span).content
}

/// The error of a text or of bytes that must be wrong.
func json5Error(_ bytes: [UInt8]) -> ConfigurationError? {
    do throws(ConfigurationError) {
        _ = try JSON5Reader.read(bytes.span)
        return nil
    } catch {
        return error
    }
}

struct JSON5ReaderTests {
    @Test("reads the example of json5.org")
    func example() throws {
        let text = """
            {
              // comments
              unquoted: 'and you can quote me on that',
              singleQuotes: 'I can use "double quotes" here',
              lineBreaks: "Look, Mom! \\
            No \\\\n's!",
              hexadecimal: 0xdecaf,
              leadingDecimalPoint: .8675309, andTrailing: 8675309.,
              positiveSign: +1,
              trailingComma: 'in objects', andIn: ['arrays',],
              "backwardsCompatible": "with JSON",
            }
            """
        guard case .object(let members) = try json5(text) else {
            Issue.record("not an object")
            return
        }
        let keys = [
            "unquoted", "singleQuotes", "lineBreaks", "hexadecimal", "leadingDecimalPoint", "andTrailing",
            "positiveSign", "trailingComma", "andIn", "backwardsCompatible",
        ]
        #expect(members.map(\.key) == keys)
        let values = members.map(\.value.content)
        #expect(values[0] == .string("and you can quote me on that"))
        #expect(values[1] == .string("I can use \"double quotes\" here"))
        #expect(values[2] == .string("Look, Mom! No \\n's!"))
        #expect(members[2].value.position == TextPosition(line: 5, column: 15))
        #expect(members[3].value.position == TextPosition(line: 7, column: 16))
    }

    @Test(
        "reads numbers in every spelling",
        arguments: [
            ("0", 0, 0.0), ("-0", 0, 0), ("42", 42, 42), ("+7", 7, 7), ("-12", -12, -12), ("0xdecaf", 912559, 912559),
            ("-0XfF", -255, -255), ("1e3", 1000, 1000), ("1.0", 1, 1), ("5.", 5, 5), ("2E+2", 200, 200),
            (".5", nil, 0.5), ("-1.25e-2", nil, -0.0125), ("9223372036854775807", Int.max, 9.223372036854775807e18),
            ("9223372036854775808", nil, 9.223372036854775808e18), ("1e400", nil, .infinity),
            ("Infinity", nil, .infinity), ("-Infinity", nil, -.infinity),
            ("0x8000000000000000", nil, 9.223372036854775808e18),
        ])
    func numbers(text: String, integer: Int?, double: Double) throws {
        guard case .number(let number) = try json5(text) else {
            Issue.record("not a number")
            return
        }
        #expect(number.integer == integer)
        #expect(number.double == double)
    }

    @Test("reads NaN with and without a sign", arguments: ["NaN", "+NaN", "-NaN"])
    func notANumber(text: String) throws {
        guard case .number(let number) = try json5(text) else {
            Issue.record("not a number")
            return
        }
        #expect(number.double.isNaN)
        #expect(number.integer == nil)
    }

    @Test(
        "reads every escape",
        arguments: [
            (#""\b\f\n\r\t\v\0""#, "\u{8}\u{c}\n\r\t\u{b}\u{0}"), (#"'\'\"\\\/'"#, "'\"\\/"), (#""\x41\xe9""#, "Aé"),
            (#""\u00e9\u20AC""#, "é€"), (#""\uD83D\uDE00""#, "😀"), (#""\q\A""#, "qA"),
            ("\"a\\\r\nb\\\rc\\\u{2028}d\"", "abcd"),
            ("\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"), ("\"a\tb\"", "a\tb"), ("\"\u{a0}“”\"", "\u{a0}“”"),
            ("''", ""),
        ])
    func escapes(text: String, value: String) throws {
        #expect(try json5(text) == .string(value))
    }

    @Test(
        "reads keys that are identifiers",
        arguments: [
            ("{$_a1: 0}", "$_a1"), ("{ünïcödé: 0}", "ünïcödé"), (#"{\u0061b: 0}"#, "ab"), (#"{a\u0062: 0}"#, "ab"),
            ("{null: 0}", "null"), ("{'a b': 0}", "a b"), ("{\"\": 0}", ""),
        ])
    func keys(text: String, key: String) throws {
        guard case .object(let members) = try json5(text) else {
            Issue.record("not an object")
            return
        }
        #expect(members.map(\.key) == [key])
    }

    @Test("passes blanks and comments of all kinds")
    func blanks() throws {
        let text = "\u{feff}\r\n/* a\n* b **/ // c\u{2028}[\t1,\u{b}\u{c}/**/2, // 0\u{a0}“\r3]//"
        guard case .array(let elements) = try json5(text) else {
            Issue.record("not an array")
            return
        }
        #expect(elements.count == 3)
        #expect(elements[2].position == TextPosition(line: 4, column: 1))
    }

    @Test("allows 32 levels and refuses 33")
    func depth() throws {
        _ = try json5(String(repeating: "[", count: 32) + String(repeating: "]", count: 32))
        let error = json5Error(Array((String(repeating: "[", count: 33) + String(repeating: "]", count: 33)).utf8))
        #expect(error?.code == .tooDeep)
        #expect(error?.position == TextPosition(line: 1, column: 33))
        #expect(json5Error([UInt8](repeating: 0x5b, count: 1 << 20))?.code == .tooDeep)
    }

    @Test("refuses a text of more than a MiB")
    func size() {
        let bytes = [UInt8](repeating: 0x20, count: JSON5Reader.sizeLimit + 1)
        #expect(json5Error(bytes)?.code == .tooLarge)
    }

    @Test(
        "refuses what is no JSON5, and says where",
        arguments: [
            ("", 1, 1, "the end of the text"), ("  \n ", 2, 2, "the end of the text"),
            ("{", 1, 2, "the end of the text"),
            ("{a:1", 1, 5, "the end of the text"), ("[1,", 1, 4, "the end of the text"), ("[1 2]", 1, 4, "2"),
            ("{a 1}", 1, 4, "1"), ("{a:}", 1, 4, "}"), ("[,]", 1, 2, ","), ("{,}", 1, 2, ","), ("[1,,2]", 1, 4, ","),
            ("{a:1,,}", 1, 6, ","), ("{1:2}", 1, 2, "1"), ("{a=1}", 1, 3, "="), ("{a:1;b:2}", 1, 5, ";"),
            ("# x", 1, 1, "#"),
            ("1 2", 1, 3, "2"), ("{} }", 1, 4, "}"), ("http", 1, 1, "a word without quotes"),
            ("[\n  yes]", 2, 3, "a word without quotes"), ("\"abc", 1, 1, "a text without an end"),
            ("\"a\nb\"", 1, 1, "a text without an end"), ("/* x", 1, 1, "a comment without an end"), ("/x", 1, 1, "/"),
            ("010", 1, 1, "a number that begins with 0"), ("-01", 1, 1, "a number that begins with 0"),
            ("0x", 1, 3, "the end of the text"), ("0xg", 1, 3, "g"), (".", 1, 2, "the end of the text"),
            ("+", 1, 2, "the end of the text"), ("+-1", 1, 2, "-"), ("- 1", 1, 2, "a blank"),
            ("1e", 1, 3, "the end of the text"),
            ("1e+", 1, 4, "the end of the text"), ("1.2.3", 1, 4, "a number that runs into ."),
            ("30s", 1, 3, "a number that runs into s"), ("0x1z", 1, 4, "a number that runs into z"),
            (#""\u12""#, 1, 6, "\""), (#""\x1""#, 1, 5, "\""), (#""\1""#, 1, 3, "1"), (#""\01""#, 1, 3, "0"),
            (#""\uD800""#, 1, 4, "half of a surrogate pair"), (#""\uDC00x""#, 1, 4, "half of a surrogate pair"),
            (#""\uD800\u0041""#, 1, 4, "half of a surrogate pair"), (#"{\u0031a: 1}"#, 1, 2, "\\"),
            (#"{\x61: 1}"#, 1, 2, "\\"), ("\"\u{1}\"", 1, 2, "the character U+0001"),
            ("\"\u{0}\"", 1, 2, "the character U+0000"), ("\u{0}", 1, 1, "the character U+0000"),
        ])
    func refuses(text: String, line: Int, column: Int, found: String) {
        let error = json5Error(Array(text.utf8))
        #expect(error?.code == .syntax)
        #expect(error?.position == TextPosition(line: line, column: column))
        #expect(error?.found == found)
    }

    @Test(
        "refuses a repeated key, whatever its spelling",
        arguments: ["{a: 1,\n a: 2}", "{a: 1,\n 'a': 2}", "{a: 1,\n \\u0061: 2}"])
    func duplicates(text: String) {
        let error = json5Error(Array(text.utf8))
        #expect(error?.code == .duplicateKey)
        #expect(error?.position == TextPosition(line: 2, column: 2))
        #expect(error?.path == "a")
        #expect(error?.hint == "it stands already in line 1")
    }

    @Test("an error has the path of the place that it is about")
    func path() {
        let error = json5Error(Array("{a: [0, {b: }]}".utf8))
        #expect(error?.path == "a[1].b")
        #expect(error?.description == "line 1, column 13: a[1].b: found }; expected a value")
    }
}

/// B172: files that Windows tools, word processors and web pages leave behind.
struct JSON5EncodingTests {
    @Test(
        "B172: a byte order mark and CRLF change nothing",
        arguments: [[0xef, 0xbb, 0xbf, 0x7b, 0x7d], Array("{\r\n}\r\n".utf8)])
    func accepted(bytes: [UInt8]) throws {
        let value = try JSON5Reader.read(bytes.span)
        #expect(value.content == .object([]))
    }

    @Test(
        "B172: invalid UTF-8 is refused with its line, even in a comment",
        arguments: [
            ([0x7b, 0xff, 0x7d], 1, 2, "0xFF"), (Array("{\r\n// ".utf8) + [0xff], 2, 4, "0xFF"),
            (Array("{\n\n'".utf8) + [0xc3, 0x28], 3, 2, "0xC3"), ([0xc0, 0x80], 1, 1, "0xC0"),
            ([0xe0, 0x80, 0x80], 1, 1, "0xE0"),
            ([0xed, 0xa0, 0x80], 1, 1, "0xED"), ([0xf4, 0x90, 0x80, 0x80], 1, 1, "0xF4"),
            ([0xf0, 0x9f, 0x98], 1, 1, "0xF0"),
            ([0x80], 1, 1, "0x80"), ([0xff, 0xfe, 0x7b, 0x00], 1, 1, "0xFF"),
        ])
    func invalid(bytes: [UInt8], line: Int, column: Int, octet: String) {
        let error = json5Error(bytes)
        #expect(error?.code == .encoding)
        #expect(error?.position == TextPosition(line: line, column: column))
        #expect(error?.found == "the octet \(octet), which is not UTF-8")
    }

    @Test(
        "B172: blanks and quotes of word processors are refused by name",
        arguments: [
            ("{\n\u{a0}a: 1}", 2, 1, "a no-break space (U+00A0)"), ("{a:\u{a0}1}", 1, 4, "a no-break space (U+00A0)"),
            ("{a: 1}\u{a0}", 1, 7, "a no-break space (U+00A0)"), ("{a: “x”}", 1, 5, "a typographic quote “ (U+201C)"),
            ("{‘a’: 1}", 1, 2, "a typographic quote ‘ (U+2018)"),
            ("{\u{2003}a: 1}", 1, 2, "a typographic space (U+2003)"),
            ("{\u{feff}a: 1}", 1, 2, "a byte order mark (U+FEFF) within the text"),
            ("[\u{2028}1]", 1, 2, "the character U+2028"), ("[\u{200b}1]", 1, 2, "the character U+200B"),
        ])
    func named(text: String, line: Int, column: Int, found: String) {
        let error = json5Error(Array(text.utf8))
        #expect(error?.position == TextPosition(line: line, column: column))
        #expect(error?.found == found)
    }
}
