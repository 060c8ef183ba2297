/// What a hand scanner reads, line by line: links for a device, and the stickers that say which.

public import Bytes
internal import Profiles

/// The state between two lines.
public struct ScanSession: Sendable {
    /// What is to be done about a line.
    public enum Step: Equatable, Sendable {
        /// An empty line: scanners send some.
        case nothing
        case refuse(String)
        /// Look whether there is such a device, then call `keep`.
        case sticker(String)
        case apply(link: String, Target)
    }

    /// How long a sticker counts.
    public static let patience = Interval.seconds(60)
    /// The longest line that is read as one.
    public static let lineLimit = 8192

    private let fixed: Target?
    private var kept: (device: String, until: Instant)?
    private var lines = 0
    public private(set) var applied = 0
    public private(set) var refused = 0

    /// With a target every link is for it; without one stickers say whom they are for.
    public init(target: Target?) { fixed = target }

    public var exitCode: Int32 { refused == 0 ? ExitCode.done : ExitCode.failed }

    public var summary: String { "\(applied) applied, \(refused) refused" }

    /// Takes one line without its line feed.
    public mutating func take(_ line: [UInt8], at now: Instant) -> Step {
        lines += 1
        var octets = line[...]
        if octets.starts(with: [0xef, 0xbb, 0xbf]) { octets = octets.dropFirst(3) }
        let isBlank = { (octet: UInt8) in octet == 0x20 || octet == 0x09 || octet == 0x0d || octet == 0 }
        octets = octets.drop(while: isBlank)
        while let last = octets.last, isBlank(last) { octets.removeLast() }
        guard !octets.isEmpty else { return .nothing }
        guard octets.count < Self.lineLimit else {
            return refuse("found more than \(Self.lineLimit) octets; expected a config URL")
        }
        guard var text = String(validating: octets, as: UTF8.self) else {
            return refuse("found what is not UTF-8; expected a config URL")
        }
        // zbarcam without --raw says what kind of code it was.
        if text.hasPrefix("QR-Code:") { text.removeFirst(8) }
        return read(text, at: now)
    }

    private mutating func read(_ text: String, at now: Instant) -> Step {
        do throws(LinkError) {
            if let sticker = try DeviceSticker.parse(text) {
                guard fixed == nil else {
                    return refuse("found a device's sticker; expected a link: --device and --all leave no choice")
                }
                return .sticker(sticker.name)
            }
        } catch {
            return refuse(Self.advised("\(error)", text))
        }
        do throws(ConfigURLError) {
            _ = try ConfigURL.parse(text, from: .control)
        } catch {
            return refuse(Self.advised("\(error)", text))
        }
        if let fixed { return .apply(link: text, fixed) }
        guard let kept, now < kept.until else {
            let why = self.kept.map { "the sticker of \($0.device) was scanned over 60 s ago" } ?? "found no device"
            self.kept = nil
            return refuse("\(why); expected a device's sticker first (or --device NAME)")
        }
        return .apply(link: text, .device(kept.device))
    }

    /// A keyboard with Caps Lock turns letters around, and a scanner is one.
    private static func advised(_ reason: String, _ text: String) -> String {
        let letters = text.unicodeScalars.filter { $0.properties.isAlphabetic && $0.isASCII }
        let isLoud = letters.count > 8 && letters.allSatisfy { $0.properties.isUppercase }
        return isLoud ? reason + "; all letters are capitals: is Caps Lock on?" : reason
    }

    private mutating func refuse(_ reason: String) -> Step {
        refused += 1
        return .refuse("line \(lines): \(reason)")
    }

    /// Notes whose sticker was read.
    public mutating func keep(_ device: String, at now: Instant) {
        kept = (device, now + Self.patience)
    }

    public mutating func noteApplied() { applied += 1 }

    /// Notes that the daemon, or the way to it, said no; what the screen says of it.
    public mutating func noteRefused(_ reason: String) -> String {
        refused += 1
        return "line \(lines): \(reason)"
    }

    /// What has become of a switch: `pixel-7 → Whistle QA, until 16:02, in 12 h`.
    public static func confirmation(_ answer: Found, for target: Target, _ moment: Moment) -> String {
        let name = answer["link"]["name"].text ?? answer["profile"].text ?? "?"
        let until = answer["until"].integer.map { ", until \(moment.end($0))" } ?? ""
        switch target {
        case .device(let device): return "\(device) → \(name)\(until)"
        case .all: return "all devices → \(name), \(Count.text(answer["moved"].integer ?? 0, "device")) moved"
        }
    }
}

/// Cuts a stream into lines; one that is too long is kept to its limit, so that it is refused and never a memory's end.
public struct LineCutter: Sendable {
    private var line: [UInt8] = []
    /// Whether a line feed would belong to the line end that was just seen.
    private var endsInReturn = false

    public init() {}

    /// Takes octets and returns the lines that end in them, without their ends (LF, CR or both).
    public mutating func take(_ octets: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for octet in octets {
            defer { endsInReturn = octet == 0x0d }
            if octet == 0x0a, endsInReturn { continue }
            if octet == 0x0a || octet == 0x0d {
                lines.append(line)
                line.removeAll()
            } else if line.count < ScanSession.lineLimit {
                line.append(octet)
            }
        }
        return lines
    }

    /// What stands behind the last line end.
    public mutating func finish() -> [UInt8] {
        defer { line.removeAll() }
        return line
    }
}
