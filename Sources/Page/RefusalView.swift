/// What stands where something was asked for that is not to be had: what, why, and where to go on.

extension PageRefusal {
    private var title: String {
        switch self {
        case .otherHost: "Not this gateway"
        case .method: "Not done"
        case .otherOrigin, .notForm, .tooLarge, .form: "Not done"
        case .token: "This page was too old"
        case .unknownPath: "No such page"
        case .tooOften: "Too many requests"
        case .busy: "Too many visitors"
        }
    }

    /// Why, and what would be right: what a form of somebody who is too late says beside its field.
    public var words: String {
        switch self {
        case .otherHost: "The address names another host than this gateway."
        case .method(let allowed): "This address takes \(allowed.joined(separator: ", ")) alone."
        case .otherOrigin: "The form was not sent by a page of this gateway, so nothing was changed."
        case .notForm: "What was sent is no form, so nothing was changed."
        case .tooLarge: "The form is too long: \(PageGuard.bodyLimit >> 10) KiB at most. Nothing was changed."
        case .form(let error): "\(error.words) Nothing was changed."
        case .token: "A form works for 10 to 20 minutes after its page was loaded. Nothing was changed: do it again."
        case .unknownPath: "There is nothing at this address."
        case .tooOften: "This device asks too often; wait a second."
        case .busy: "All devices together ask for pages too often; wait a second."
        }
    }

    /// The page that says so.
    public func answer(in context: PageContext) -> PageAnswer {
        // Whoever has a name of theirs point here reads what stands under it: nothing about this gateway's pages.
        var answer = PageAnswer(title: title, status: status, context, isBare: self == .otherHost) {
            tag(.h1) { title }
            tag(.p) { words }
            if let here = PageLink(authority: context.authority, path: "/") {
                tag(.p) { tag(.a, .class("button"), .href(here)) { "Go to this phone's page" } }
            }
        }
        mark(&answer)
        return answer
    }

    /// The same in a line, which costs less, and needs to know nothing of who asks.
    public var line: PageAnswer {
        var answer = PageAnswer.line(words, status: status)
        mark(&answer)
        return answer
    }

    private func mark(_ answer: inout PageAnswer) {
        switch self {
        case .method(let allowed): answer.set("Allow", allowed.joined(separator: ", "))
        case .tooOften, .busy: answer = answer.later
        default: break
        }
    }
}

extension PageAnswer {
    /// The same, with word that it may be another one in a second.
    public var later: PageAnswer {
        var answer = self
        answer.set("Retry-After", "1")
        return answer
    }
}

extension PageFormError {
    fileprivate var words: String {
        switch self {
        case .tooLarge: "The form is too long."
        case .tooManyPairs: "The form has too many fields: \(PageForm.pairLimit) at most."
        case .encoding: "The form is not in UTF-8, or was cut."
        case .repeated(let name): "The form says “\(name.prefix(32))” twice."
        case .missing(let name): "The form does not say “\(name.prefix(32))”."
        }
    }
}

/// What a device may not see or do: a page that is off, or for others.
public struct RefusalView: Equatable, Sendable {
    public var title: String
    /// Why, and what would be right.
    public var words: String
    public var status: Int

    public init(title: String, words: String, status: Int = 403) {
        self.title = title
        self.words = words
        self.status = status
    }

    public func answer(in context: PageContext) -> PageAnswer {
        PageAnswer(title: title, status: status, context) {
            tag(.h1) { foreign(title) }
            tag(.p) { foreign(words) }
            tag(.p) { tag(.a, .class("button"), .href(PageLink("/"))) { "Go to this phone's page" } }
        }
    }
}
