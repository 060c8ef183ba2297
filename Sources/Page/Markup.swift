/// HTML that holds other people's texts as texts (WHATWG HTML, section 13.1).
///
/// A text becomes markup in one way, and that way escapes it. Elements and the names of attributes are closed sets, and
/// addresses are `PageLink`s, which name no scheme but http. So nothing that a device says of itself can become more
/// than letters, wherever it stands.

/// A piece of a page.
public struct Markup: Equatable, Sendable {
    /// What is written into the page.
    public private(set) var html: String

    static let empty = Markup(html: "")

    private init(html: String) { self.html = html }

    /// A text, which stays one.
    init(_ text: String) { html = Self.escaped(text) }

    /// Markup that stands in this program's source.
    init(literal: StaticString) { html = "\(literal)" }

    static func + (left: Markup, right: Markup) -> Markup { Markup(html: left.html + right.html) }

    static func joined(_ parts: some Sequence<Markup>) -> Markup {
        var html = ""
        for part in parts { html += part.html }
        return Markup(html: html)
    }

    fileprivate static func element(_ name: String, _ attributes: [Attribute], _ content: Markup?) -> Markup {
        var html = "<\(name)"
        for attribute in attributes {
            html += " \(attribute.name)"
            if let value = attribute.value { html += "=\"\(escaped(value))\"" }
        }
        html += ">"
        // The first line end in these is dropped by whoever reads them (section 13.1.2.5).
        if name == "textarea" || name == "pre" { html += "\n" }
        guard let content else { return Markup(html: html) }
        return Markup(html: html + content.html + "</\(name)>")
    }

    /// A text between tags or quotation marks.
    ///
    /// Characters that turn the direction of a line around, and those that nobody sees, come out as U+FFFD: a name is
    /// shown as it is, or visibly broken.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case " "..."~", "\n", "\t": escaped.unicodeScalars.append(scalar)
            case "\r": break
            default: escaped.unicodeScalars.append(isShown(scalar) ? scalar : "\u{fffd}")
            }
        }
        return escaped
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        // Joiners stand in emoji and in several scripts.
        case .format: scalar == "\u{200c}" || scalar == "\u{200d}"
        default: true
        }
    }
}

/// Makes one piece out of several, texts and markup alike.
@resultBuilder
enum MarkupBuilder {
    static func buildExpression(_ text: String) -> Markup { Markup(text) }
    static func buildExpression(_ markup: Markup) -> Markup { markup }
    static func buildBlock(_ parts: Markup...) -> Markup { .joined(parts) }
    static func buildOptional(_ part: Markup?) -> Markup { part ?? .empty }
    static func buildEither(first part: Markup) -> Markup { part }
    static func buildEither(second part: Markup) -> Markup { part }
    static func buildArray(_ parts: [Markup]) -> Markup { .joined(parts) }
}

/// The elements that pages are made of.
enum Element: String {
    case a, abbr, bdi, body, button, caption, code, dd, details, div, dl, dt, fieldset, figcaption, figure, footer, form
    case iframe
    case h1, h2, h3, head, header, html, label, legend, li, main, nav, ol, option, p, path, pre, rect, script, section
    case select, small, span, strong, style, summary, svg, table, tbody, td, text, textarea, th, thead, time, title, tr
    case ul

    /// Those without content or an end tag (section 13.1.2).
    enum Void: String {
        case img, input, link, meta
    }
}

/// An element with its content.
func tag(_ element: Element, _ attributes: Attribute..., @MarkupBuilder content: () -> Markup) -> Markup {
    .element(element.rawValue, attributes, content())
}

/// An element with its content, and with attributes that depend.
func tag(_ element: Element, all attributes: [Attribute], @MarkupBuilder content: () -> Markup) -> Markup {
    .element(element.rawValue, attributes, content())
}

/// An element without content that has an end tag nevertheless.
func tag(_ element: Element, _ attributes: Attribute...) -> Markup { .element(element.rawValue, attributes, .empty) }

/// An element that never has content.
func tag(_ element: Element.Void, _ attributes: Attribute...) -> Markup { .element(element.rawValue, attributes, nil) }

/// An element that never has content, with attributes that depend.
func tag(_ element: Element.Void, all attributes: [Attribute]) -> Markup {
    .element(element.rawValue, attributes, nil)
}

/// A name or a text of somebody else: its direction does not reach beyond it.
func foreign(_ text: String) -> Markup { tag(.bdi) { text } }

/// One attribute; its value is escaped where it is written.
struct Attribute: Equatable, Sendable {
    let name: StaticString
    /// Nil for one that says all by being there.
    let value: String?

    private init(_ name: StaticString, _ value: String?) {
        self.name = name
        self.value = value
    }

    static func == (left: Attribute, right: Attribute) -> Bool {
        "\(left.name)" == "\(right.name)" && left.value == right.value
    }

    static func id(_ value: String) -> Attribute { Attribute("id", value) }
    static func `class`(_ value: StaticString) -> Attribute { Attribute("class", "\(value)") }
    static func href(_ link: PageLink) -> Attribute { Attribute("href", link.text) }
    static func source(_ link: PageLink) -> Attribute { Attribute("src", link.text) }
    static func action(_ link: PageLink) -> Attribute { Attribute("action", link.text) }
    static func name(_ value: StaticString) -> Attribute { Attribute("name", "\(value)") }
    static func name(text: String) -> Attribute { Attribute("name", text) }
    static func type(_ value: StaticString) -> Attribute { Attribute("type", "\(value)") }
    static func value(_ value: String) -> Attribute { Attribute("value", value) }
    static func content(_ value: String) -> Attribute { Attribute("content", value) }
    static func label(for id: String) -> Attribute { Attribute("for", id) }
    static func alternative(_ text: String) -> Attribute { Attribute("alt", text) }
    static func dateTime(_ text: String) -> Attribute { Attribute("datetime", text) }
    static func title(_ text: String) -> Attribute { Attribute("title", text) }
    /// What a script may take from a fresh copy of the page; the value tells places apart.
    static func live(_ value: String) -> Attribute { Attribute("data-live", value) }

    /// Any other attribute whose value stands in the source.
    static func fixed(_ name: StaticString, _ value: StaticString) -> Attribute { Attribute(name, "\(value)") }
    /// A number, or a place made of numbers.
    static func number(_ name: StaticString, _ value: Int) -> Attribute { Attribute(name, "\(value)") }
    static func flag(_ name: StaticString) -> Attribute { Attribute(name, nil) }

    // WAI-ARIA 1.2

    static func role(_ value: StaticString) -> Attribute { Attribute("role", "\(value)") }
    static func labelled(_ text: String) -> Attribute { Attribute("aria-label", text) }
    static func labelled(by id: String) -> Attribute { Attribute("aria-labelledby", id) }
    static func described(by ids: [String]) -> Attribute {
        Attribute("aria-describedby", ids.joined(separator: " "))
    }

    // SVG 2, of what codes are drawn with

    static func viewBox(_ left: Int, _ top: Int, _ width: Int, _ height: Int) -> Attribute {
        Attribute("viewBox", "\(left) \(top) \(width) \(height)")
    }
    static func path(_ data: String) -> Attribute { Attribute("d", data) }
    static func millimetres(_ name: StaticString, _ value: Int) -> Attribute { Attribute(name, "\(value)mm") }
}
