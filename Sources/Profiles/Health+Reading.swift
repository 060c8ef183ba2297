/// The `health` objects: the range of each key.

internal import Bytes

extension HealthKeys {
    init(_ value: JSON5Value, path: String) throws(ConfigurationError) {
        let section = try Section(value, path: path, keys: ConfigurationKeys.health)
        url = try section.pageURL("url")
        status = try section.statuses("status")
        body = try section.bodyPattern("body")
        if section["via"] != nil {
            var word = HealthOptions.Via.auto
            try section.read("via", into: &word)
            via = word
        }
        interval = try section.duration("interval", within: .seconds(5) ... .hours(1))
        timeout = try section.duration("timeout", within: .seconds(1) ... .seconds(60))
        slow = try section.duration("slow", within: .milliseconds(10) ... .seconds(60))
        if case .boolean(false)? = section["giveUp"]?.content {
            giveUp = .never
        } else if let time = try section.duration("giveUp", within: .seconds(30) ... .hours(24)) {
            giveUp = .after(time)
        }
    }
}

extension HealthOptions {
    /// Reads the defaults of all profiles.
    static func read(_ top: Section) throws(ConfigurationError) -> HealthOptions {
        guard let value = top["health"] else { return HealthOptions() }
        guard value.content != .boolean(false) else {
            throw top.error(
                .wrongType, "health", found: "false", expected: "an object: { … }",
                hint: "a profile that is not to be probed says so itself")
        }
        let keys = try HealthKeys(value, path: "health")
        if let mistake = keys.contradiction(over: HealthOptions()) {
            var error = Configuration.conflict(
                "health.\(mistake.key)", found: mistake.found, expected: mistake.expected, hint: mistake.hint)
            error.position = value.position(of: mistake.key)
            throw error
        }
        return keys.laid(over: HealthOptions())
    }
}

extension HealthKeys {
    /// One key that can't be meant beside the others.
    struct Contradiction {
        var key: String
        var found: String
        var expected: String
        var hint: String?
    }

    /// The first contradiction among these keys, or between them and the settings that they are laid over.
    func contradiction(over base: HealthOptions) -> Contradiction? {
        let whole = laid(over: base)
        if whole.page == nil, let key = status != nil ? "status" : body != nil ? "body" : nil {
            return Contradiction(
                key: key, found: "a \(key) and no url", expected: "a url beside it", hint: "it is the url's answer")
        }
        // 204, 205 and 304 have no content (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5).
        if let page = whole.page, page.body != nil, page.statuses.allSatisfy([204, 205, 304].contains) {
            return Contradiction(
                key: body != nil ? "body" : "status", found: "a body with no status that comes with one",
                expected: "another status, or no body")
        }
        if whole.timeout > whole.interval {
            return Contradiction(
                key: "timeout",
                found: "timeout \"\(Quantity.text(whole.timeout))\" with interval \"\(Quantity.text(whole.interval))\"",
                expected: "a timeout of at most the interval", hint: "one round ends before the next begins")
        }
        if whole.slow > whole.timeout {
            return Contradiction(
                key: "slow",
                found: "slow \"\(Quantity.text(whole.slow))\" with timeout \"\(Quantity.text(whole.timeout))\"",
                expected: "a time of at most the timeout", hint: "what takes longer than that is no answer at all")
        }
        return nil
    }
}

extension Section {
    /// Reads a duration that may be missing.
    fileprivate func duration(
        _ key: String, within range: ClosedRange<Interval>
    ) throws(ConfigurationError) -> Interval? {
        guard let value = self[key] else { return nil }
        return try duration(value, key, within: range)
    }

    fileprivate func pageURL(_ key: String) throws(ConfigurationError) -> PageURL? {
        guard let text = try text(key, PageURLError.expected, limit: PageURL.sizeLimit) else { return nil }
        do throws(PageURLError) {
            return try PageURL.parse(text)
        } catch {
            throw self.error(.badValue, key, found: error.found, expected: PageURLError.expected, hint: error.hint)
        }
    }

    /// Reads one status or several; an interim one is never an answer's last (RFC 9110, section 15.2).
    fileprivate func statuses(_ key: String) throws(ConfigurationError) -> [Int]? {
        guard let value = self[key] else { return nil }
        let limit = HealthOptions.Page.statusLimit
        let expected = "a status from 200 to 599, or a list of up to \(limit)"
        var values = [value]
        if case .array = value.content { values = try list(key, expected, limit: limit) }
        guard !values.isEmpty else { throw error(.badValue, key, found: "an empty list", expected: expected) }
        var statuses: [Int] = []
        for value in values {
            guard case .number(let number) = value.content else {
                let hint = value.isText ? "numbers stand without quotes" : nil
                throw error(.wrongType, key, found: value.kind, expected: expected, hint: hint, at: value)
            }
            guard let status = number.integer, HealthOptions.Page.possibleStatuses.contains(status),
                !statuses.contains(status)
            else {
                let isTwice = number.integer.map(statuses.contains) ?? false
                throw error(
                    .badValue, key, found: Shown.number(number) + (isTwice ? " twice" : ""), expected: expected,
                    at: value)
            }
            statuses.append(status)
        }
        return statuses
    }

    fileprivate func bodyPattern(_ key: String) throws(ConfigurationError) -> String? {
        let expected = "a text that the page has in it, with * for what may vary"
        guard let text = try text(key, expected, limit: HealthOptions.Page.bodyLimit) else { return nil }
        guard text.contains(where: { $0 != "*" }) else {
            throw error(.badValue, key, found: Shown.text(text), expected: expected, hint: "every page has that")
        }
        return text
    }
}
