/// A page to print and hang on the wall: join the Wi-Fi, pick a profile; and stickers for the devices.

public import Profiles
public import QRCode

/// The codes of a page, in their order.
public struct Sheet: Sendable {
    /// One code with what stands below it.
    public struct Entry: Sendable {
        public var title: String
        public var note: String
        public var code: QRCode
    }

    public let gateway: String
    public private(set) var entries: [Entry] = []
    private let level: QRCode.ErrorCorrection

    public init(gateway: String, level: QRCode.ErrorCorrection) {
        self.gateway = gateway
        self.level = level
    }

    /// Adds the code that joins the Wi-Fi; its password stands in the code alone.
    public mutating func add(_ network: WiFiCode) throws(QRCodeError) {
        try add("Wi-Fi \(network.network)", "1. Join: scan with the camera", network.text)
    }

    /// Adds the profiles that everybody may use, from the daemon's list.
    public mutating func add(profiles: Found, _ form: Link.Form) throws(QRCodeError) {
        for profile in profiles["profiles"].elements {
            guard profile["selfService"].flag == true, profile["hidden"].flag != true, let id = profile["id"].raw,
                Link.isIdentifier(id)
            else { continue }
            try add(profile["name"].text ?? id, "Profile \(id)", Link(profile: id, form: form).text)
        }
    }

    /// Adds a sticker for each device that has a name, from the daemon's list.
    public mutating func add(devices: Found) throws(QRCodeError) {
        for device in devices["devices"].elements {
            guard let name = device["name"].raw, let sticker = DeviceSticker(name: name) else { continue }
            try add(name, "Sticker: stick it on the device", sticker.text)
        }
    }

    private mutating func add(_ title: String, _ note: String, _ text: String) throws(QRCodeError) {
        entries.append(Entry(title: title, note: note, code: try QRCode(text, level: level)))
    }
}

extension Sheet {
    /// Millimetres: of A4, three codes beside each other.
    private static let (width, margin, cell, side, row) = (210, 12, 62, 50, 68)
    private static let columns = 3

    /// One drawing in millimetres, as wide as A4 and as high as it takes.
    public var svg: String {
        let rows = (entries.count + Self.columns - 1) / Self.columns
        let height = max(297, 30 + rows * Self.row + Self.margin)
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)mm" height="\(height)mm" \
            viewBox="0 0 \(Self.width) \(height)" font-family="sans-serif">
            <rect width="\(Self.width)" height="\(height)" fill="#fff"/>
            <text x="\(Self.margin)" y="20" font-size="7">\(Self.escaped("Starship Gateway \(gateway)"))</text>

            """
        for (index, entry) in entries.enumerated() {
            let left = Self.margin + index % Self.columns * Self.cell
            let top = 30 + index / Self.columns * Self.row
            text += Self.drawing(
                entry.code, "x=\"\(left)\" y=\"\(top)\" width=\"\(Self.side)\" height=\"\(Self.side)\"")
            text +=
                "<text x=\"\(left)\" y=\"\(top + Self.side + 5)\" font-size=\"5\">\(Self.escaped(entry.title))</text>\n"
            text +=
                "<text x=\"\(left)\" y=\"\(top + Self.side + 10)\" font-size=\"3.2\">\(Self.escaped(entry.note))</text>\n"
        }
        return text + "</svg>\n"
    }

    /// A page for a browser to print; no entry is cut by the end of a sheet.
    public var html: String {
        var text = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(Self.escaped("Starship Gateway \(gateway)"))</title>
            <style>
            body { font-family: sans-serif; margin: 12mm; }
            main { display: grid; grid-template-columns: repeat(3, 1fr); gap: 6mm; }
            figure { margin: 0; break-inside: avoid; }
            svg { width: 50mm; height: 50mm; }
            figcaption { font-size: 12pt; }
            small { display: block; font-size: 8pt; }
            </style></head><body>
            <h1>\(Self.escaped("Starship Gateway \(gateway)"))</h1>
            <main>

            """
        for entry in entries {
            text += "<figure>\n\(Self.drawing(entry.code, ""))"
            text +=
                "<figcaption>\(Self.escaped(entry.title))<small>\(Self.escaped(entry.note))</small></figcaption></figure>\n"
        }
        return text + "</main></body></html>\n"
    }

    /// A code with its quiet zone, in a place.
    private static func drawing(_ code: QRCode, _ place: String) -> String {
        let zone = QRCode.quietZone
        let side = code.size + 2 * zone
        return """
            <svg xmlns="http://www.w3.org/2000/svg" \(place) viewBox="-\(zone) -\(zone) \(side) \(side)" \
            shape-rendering="crispEdges"><rect x="-\(zone)" y="-\(zone)" width="\(side)" height="\(side)" \
            fill="#fff"/><path d="\(code.path)"/></svg>

            """
    }

    /// A text between tags.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
