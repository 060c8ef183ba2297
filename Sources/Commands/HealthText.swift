/// How an upstream is, in words: its colour, why, and what each layer says.

/// The health of an upstream as an answer says it.
struct HealthText {
    let health: Found

    /// `green`, `yellow`, `red` or `grey`; what is not known is grey.
    var colour: String {
        let colour = health["colour"].text ?? ""
        return ["green", "yellow", "red"].contains(colour) ? colour : "grey"
    }

    var tint: Style.Tint {
        switch colour {
        case "green": .good
        case "yellow": .warning
        case "red": .bad
        default: .faint
        }
    }

    var exitCode: Int32 {
        switch colour {
        case "green": ExitCode.done
        case "red": ExitCode.red
        default: ExitCode.failed
        }
    }

    /// `● GREEN`; the word is for those who don't see colours, and for files.
    var sign: String { "● \(colour.uppercased())" }

    /// One sentence; nil where nothing is wrong.
    var cause: String? { health["cause"]["text"].text ?? health["cause"]["code"].text }

    var note: String? { health["note"].text }

    static let layers = ["connect", "request", "traffic"]

    /// A layer's last observation: `45 ms, 12 s ago`; nil where there was none.
    func layer(_ name: String, at now: Int64) -> String? {
        let layer = health["layers"][name]
        guard let isGood = layer["ok"].flag else { return nil }
        var parts: [String] = []
        if isGood {
            parts.append(layer["ms"].integer.map { Quantities.time($0) } ?? "works")
        } else {
            let misses = layer["misses"].integer ?? 0
            parts.append(misses > 1 ? "fails, \(misses) times in a row" : "fails")
        }
        if let at = layer["at"].integer { parts.append("\(Moment.span(now - Int64(at))) ago") }
        return parts.joined(separator: ", ")
    }
}

/// Sizes, rates and times as people read them at a glance.
enum Quantities {
    /// `45 ms`, `3.4 s`.
    static func time(_ milliseconds: Int) -> String {
        switch milliseconds {
        case ..<1000: "\(max(0, milliseconds)) ms"
        case ..<10_000: tenths(milliseconds, 1000) + " s"
        default: Moment.span(Int64(milliseconds / 1000))
        }
    }

    /// `812 B`, `1.2 MiB`, `30 GiB`.
    static func size(_ octets: Int) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var (unit, rank) = (1, 0)
        // From 1000 on the next unit is the shorter one.
        while octets / unit >= 1000, rank < units.count - 1 {
            unit <<= 10
            rank += 1
        }
        if rank == 0 { return "\(max(0, octets)) B" }
        return (octets / unit < 10 ? tenths(octets, unit) : "\(octets / unit)") + " " + units[rank]
    }

    static func rate(_ octets: Int) -> String { size(octets) + "/s" }

    /// A quotient with one decimal, cut off.
    private static func tenths(_ number: Int, _ unit: Int) -> String {
        "\(number / unit).\(number % unit * 10 / unit)"
    }
}
