/// Codes to print and hang on the wall: join the Wi-Fi, pick a profile; and stickers for the devices.
///
/// The same codes make a drawing for a file, a page of its own for a file, and the page at `/codes`.

public import Profiles
public import QRCode

/// The codes of a page, in their order.
public struct CodeSheet: Equatable, Sendable {
    /// One code with what stands below it.
    public struct Entry: Equatable, Sendable {
        public var title: String
        public var note: String
        public var code: QRCode
    }

    public let gateway: String
    public private(set) var entries: [Entry] = []
    private let level: QRCode.ErrorCorrection

    public init(gateway: String, level: QRCode.ErrorCorrection = .medium) {
        self.gateway = gateway
        self.level = level
    }

    /// Adds the code that joins the Wi-Fi; its password stands in the code alone.
    public mutating func add(_ network: WiFiCode) throws(QRCodeError) {
        try add("Wi-Fi \(network.network)", "1. Join: scan with the camera", network.text)
    }

    /// Adds a profile that everybody may use; traps on an id that no profile can have.
    public mutating func add(profile id: String, name: String, _ form: Link.Form) throws(QRCodeError) {
        try add(name, "Profile \(id)", Link(profile: id, form: form).text)
    }

    /// Adds a sticker for a device that has a name.
    public mutating func add(_ sticker: DeviceSticker) throws(QRCodeError) {
        try add(sticker.name, "Sticker: stick it on the device", sticker.text)
    }

    private mutating func add(_ title: String, _ note: String, _ text: String) throws(QRCodeError) {
        entries.append(Entry(title: title, note: note, code: try QRCode(text, level: level)))
    }
}

extension CodeSheet {
    /// Millimetres: of A4, three codes beside each other.
    private static let (width, margin, cell, side, row) = (210, 12, 62, 50, 68)
    private static let columns = 3

    private var title: String { "Starship Gateway \(gateway)" }

    /// One drawing in millimetres, as wide as A4 and as high as it takes.
    public var svg: String {
        let rows = (entries.count + Self.columns - 1) / Self.columns
        let height = max(297, 30 + rows * Self.row + Self.margin)
        let drawing = tag(
            .svg, .fixed("xmlns", "http://www.w3.org/2000/svg"), .millimetres("width", Self.width),
            .millimetres("height", height), .viewBox(0, 0, Self.width, height), .fixed("font-family", "sans-serif")
        ) {
            tag(.rect, .number("width", Self.width), .number("height", height), .fixed("fill", "#fff"))
            tag(.text, .number("x", Self.margin), .fixed("y", "20"), .fixed("font-size", "7")) { title }
            Markup.joined(entries.enumerated().map { Self.placed($1, at: $0) })
        }
        return drawing.html + "\n"
    }

    private static func placed(_ entry: Entry, at index: Int) -> Markup {
        let left = margin + index % columns * cell
        let top = 30 + index / columns * row
        return Markup.joined([
            drawing(
                entry.code,
                [
                    .number("x", left), .number("y", top), .number("width", side), .number("height", side),
                ]),
            tag(.text, .number("x", left), .number("y", top + side + 5), .fixed("font-size", "5")) { entry.title },
            tag(.text, .number("x", left), .number("y", top + side + 10), .fixed("font-size", "3.2")) { entry.note },
        ])
    }

    /// A page for a browser to print, alone in its file; no entry is cut by the end of a sheet.
    public var html: String {
        let page = tag(.html, .fixed("lang", "en")) {
            tag(.head) {
                tag(.meta, .fixed("charset", "utf-8"))
                tag(.title) { title }
                tag(.style) { Markup(literal: Self.style) }
            }
            tag(.body) {
                tag(.h1) { title }
                tag(.main) { figures }
            }
        }
        return Markup(literal: "<!DOCTYPE html>\n").html + page.html + "\n"
    }

    private static let style: StaticString = """

        body { font-family: sans-serif; margin: 12mm; }
        main { display: grid; grid-template-columns: repeat(3, 1fr); gap: 6mm; }
        figure { margin: 0; break-inside: avoid; }
        svg { width: 50mm; height: 50mm; }
        figcaption { font-size: 12pt; }
        small { display: block; font-size: 8pt; }

        """

    /// All codes with their captions.
    fileprivate var figures: Markup {
        .joined(
            entries.map { entry in
                tag(.figure) {
                    Self.drawing(entry.code, label: "QR code: \(entry.title)")
                    tag(.figcaption) {
                        entry.title
                        tag(.small) { entry.note }
                    }
                }
            })
    }

    /// A code for a page, with what it is for those who don't see it.
    static func drawing(_ code: QRCode, label: String) -> Markup {
        drawing(code, [.role("img"), .labelled(label)])
    }

    /// A code with its quiet zone.
    private static func drawing(_ code: QRCode, _ attributes: [Attribute]) -> Markup {
        let zone = QRCode.quietZone
        let side = code.size + 2 * zone
        let all: [Attribute] =
            [.fixed("xmlns", "http://www.w3.org/2000/svg")] + attributes
            + [.viewBox(-zone, -zone, side, side), .fixed("shape-rendering", "crispEdges")]
        return tag(.svg, all: all) {
            tag(
                .rect, .number("x", -zone), .number("y", -zone), .number("width", side), .number("height", side),
                .fixed("fill", "#fff"))
            tag(.path, .path(code.path))
        }
    }
}

/// What the page at `/codes` shows.
public struct CodesView: Equatable, Sendable {
    public var sheet: CodeSheet

    public init(sheet: CodeSheet) { self.sheet = sheet }

    public func answer(in context: PageContext) -> PageAnswer {
        PageAnswer(title: "Codes to print", context) {
            tag(.h1) { Markup("Codes of ") + foreign(context.gateway) }
            if sheet.entries.isEmpty {
                tag(.p) { "There is nothing to print: no profile is for everybody, and no device has a name." }
            } else {
                tag(.p, .class("screen")) { "Print this page with the browser's menu; only the codes come out." }
                tag(.div, .class("codes")) { sheet.figures }
            }
        }
    }
}
