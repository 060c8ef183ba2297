/// One text for a bug report: what there is, in sections, without secrets.
///
/// A text and no archive: who sends it can read what they give away, it needs no tool at either end, it can be pasted,
/// and one pass over the one text is all that stands between a secret and the world.

import Profiles

public struct BugReport: Sendable {
    public struct Section: Equatable, Sendable {
        public var title: String
        public var text: String

        public init(_ title: String, _ text: String) {
            self.title = title
            self.text = text
        }
    }

    public var sections: [Section] = []
    /// What must not be seen, as it stands in files.
    public var secrets: [String] = []
    /// Names of devices that are to be replaced, and everything else that says who; nil: as it is.
    public var names: [String]?

    public init() {}

    public mutating func add(_ title: String, _ text: String) { sections.append(Section(title, text)) }

    /// A document of JSON or JSON5, by its structure; what can't be read as one goes through the sieves as it is.
    public mutating func add(_ title: String, document: [UInt8]) {
        if let value = try? JSON5Reader.read(document.span) {
            add(title, Redaction(secrets: secrets).clean(value).pretty)
        } else {
            add(title, Self.withoutComments(String(decoding: document, as: UTF8.self)))
        }
    }

    /// People note passwords in comments.
    private static func withoutComments(_ text: String) -> String {
        text.replacing(/\/\*(.|\n)*?(\*\/|$)/, with: "")
            .replacing(/(^|[\s,{\[])\/\/[^\n]*/) { "\($0.1)" }
    }

    /// The whole report.
    public var text: String {
        let redaction = Redaction(secrets: secrets)
        var standIns = names.map(StandIns.init)
        var text = ""
        for section in sections {
            var content = redaction.clean(section.text)
            if standIns != nil { content = standIns?.replace(in: content) ?? "" }
            if !content.hasSuffix("\n") { content += "\n" }
            text += "== \(section.title) ==\n\n\(content)\n"
        }
        return text
    }
}
