/// The arguments of one command, found and named; what they mean is asked here.

internal import Bytes
internal import Profiles

/// Operands in their order and options by their names; each option stands at most once.
struct Arguments: Sendable {
    /// The command's words, for messages.
    var command: String
    var operands: [String] = []
    var values: [String: String] = [:]

    func error(_ message: String, hint: String? = nil) -> ArgumentError {
        ArgumentError(command, message, hint: hint)
    }

    func wrong(_ name: String, expected: String, hint: String? = nil) -> ArgumentError {
        error("\(name): found \(Shown.text(values[name] ?? "")); expected \(expected)", hint: hint)
    }

    subscript(_ option: String) -> String? { values[option] }

    func has(_ flag: String) -> Bool { values[flag] != nil }

    /// Refuses two options of which only one can be meant.
    func exclude(_ first: String, _ second: String) throws(ArgumentError) {
        guard has(first), has(second) else { return }
        throw error("found \(first) and \(second); expected one of them")
    }

    /// Refuses options that mean nothing without another one.
    func bind(_ names: [String], to other: String) throws(ArgumentError) {
        guard !has(other), let lonely = names.first(where: has) else { return }
        throw error("found \(lonely) without \(other); expected both, or no \(lonely)")
    }

    func number(_ name: String, within range: ClosedRange<Int>) throws(ArgumentError) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Self.number(text), range.contains(number) else {
            throw wrong(name, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Digits alone.
    static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(text) : nil
    }

    /// A duration as it was written; the daemon reads it by the same rules.
    func duration(_ name: String, from least: String, to most: String) throws(ArgumentError) -> String? {
        guard let text = values[name] else { return nil }
        guard let bounds = Quantity.duration(least).flatMap({ low in Quantity.duration(most).map { low...$0 } }) else {
            preconditionFailure("bounds that are no durations")
        }
        guard let interval = Quantity.duration(text), bounds.contains(interval) else {
            throw wrong(
                name, expected: "a duration from \(least) to \(most)", hint: "one number and one unit: ms, s, m, h or d"
            )
        }
        return text
    }

    /// How long an assignment lasts.
    func lease() throws(ArgumentError) -> String? {
        if values["--for"] == "forever" { return "forever" }
        do throws(ArgumentError) {
            return try duration("--for", from: "1m", to: "365d")
        } catch {
            throw wrong("--for", expected: "a duration from 1m to 365d, or forever", hint: "such as 2h")
        }
    }

    func identifier(_ text: String, _ what: String) throws(ArgumentError) -> String {
        guard Link.isIdentifier(text) else {
            throw error(
                "\(what): found \(Shown.text(text)); expected 1 to 64 letters, digits, hyphens, dots and underscores, "
                    + "a letter or a digit first")
        }
        return text
    }

    /// A profile's id.
    func profile(_ text: String) throws(ArgumentError) -> String { try identifier(text, "PROFILE") }

    /// A device as people name it: by its name, its MAC, or its address.
    func device(_ text: String) throws(ArgumentError) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7f }
        guard isPlain, (1...128).contains(text.utf8.count) else {
            throw error(
                "DEVICE: found \(Shown.text(text)); expected a device's name, MAC or address",
                hint: "`starshipctl devices` lists them")
        }
        return text
    }

    func optionalTarget() throws(ArgumentError) -> Target? {
        try exclude("--device", "--all")
        if has("--all") { return .all }
        guard let name = values["--device"] else { return nil }
        return .device(try device(name))
    }

    /// Whom it is about; there is no default, because a wrong guess moves somebody else's phone.
    func target() throws(ArgumentError) -> Target {
        guard let target = try optionalTarget() else {
            throw error("found neither --device NAME nor --all; expected one of them")
        }
        return target
    }

    /// What is about all devices at once, and what is about one alone.
    func check(_ target: Target) throws(ArgumentError) {
        switch target {
        case .device:
            guard !has("--override") else { throw error("found --override with --device; expected --all with it") }
        case .all:
            guard !has("--for") else {
                throw error("found --for with --all; expected --device with it: the gateway's default has no end")
            }
        }
    }

    func address(_ text: String, _ what: String) throws(ArgumentError) -> WebAddress? {
        do throws(WebAddressError) {
            return try WebAddress.parse(text)
        } catch {
            throw self.error("\(what): \(error)")
        }
    }
}
