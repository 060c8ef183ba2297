/// Prometheus's text format, version 0.0.4: families of samples, each with its help and its type.
///
///     # HELP starship_flows_open Flows that are open.
///     # TYPE starship_flows_open gauge
///     starship_flows_open 12

internal import Bytes

/// A page in the making: a family is begun, and the samples that follow are its own.
struct MetricsText {
    private(set) var text = ""
    private var family = ""

    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    /// A label and its value, which may be any text.
    typealias Label = (name: String, value: String)

    /// Begins a family.
    mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        family = name
        text += "# HELP \(name) \(Self.escape(help, isHelp: true))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ value: Int, _ labels: Label...) {
        line(family, labels, String(value))
    }

    mutating func sample(_ value: Bool, _ labels: Label...) {
        line(family, labels, value ? "1" : "0")
    }

    mutating func sample(seconds value: Interval, _ labels: Label...) {
        line(family, labels, Self.seconds(value))
    }

    /// Writes a histogram: each bucket counts everything up to its bound.
    mutating func histogram(_ histogram: MetricsPage.Histogram, _ labels: Label...) {
        var count = 0
        for (place, number) in histogram.counts.enumerated() {
            count += number
            let bound = place < histogram.bounds.count ? Self.seconds(histogram.bounds[place]) : "+Inf"
            line(family + "_bucket", labels + [("le", bound)], String(count))
        }
        line(family + "_sum", labels, Self.seconds(histogram.sum))
        line(family + "_count", labels, String(count))
    }

    private mutating func line(_ name: String, _ labels: [Label], _ value: String) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(Self.escape($0.value, isHelp: false))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        text += " \(value)\n"
    }

    /// A backslash and a line feed are escaped everywhere, a quote in labels alone.
    private static func escape(_ text: String, isHelp: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where !isHelp: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Seconds, exactly: no digit more than there are nanoseconds.
    private static func seconds(_ interval: Interval) -> String {
        let magnitude = interval.nanoseconds.magnitude
        let whole = (interval.nanoseconds < 0 ? "-" : "") + String(magnitude / 1_000_000_000)
        let rest = String(magnitude % 1_000_000_000)
        guard rest != "0" else { return whole }
        var digits = String(repeating: "0", count: 9 - rest.count) + rest
        while digits.last == "0" { digits.removeLast() }
        return whole + "." + digits
    }
}
