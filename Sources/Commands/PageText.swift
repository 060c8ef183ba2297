/// Pages that an upstream may be tried with, as they are asked for and as they are written down.

public import Profiles

extension PageList {
    /// Where the package puts the list.
    static let place = "/usr/share/starship/health/pages.txt"
}

extension HealthOptions.Page {
    /// The page as it stands in a list, and as the daemon is asked for it.
    public var line: String {
        var words = [url.description]
        // A text stands behind statuses alone.
        if statuses != [200] || body != nil { words.append(statuses.map(String.init).joined(separator: ",")) }
        if let body { words.append(body) }
        return words.joined(separator: " ")
    }

    /// The page as a profile's setting: a URL alone would make a page wrong that answers 204, as it should.
    var setting: String {
        var parts = ["url: \(JSON.string(url.description).text)"]
        if statuses.count == 1, statuses != [200] { parts.append("status: \(statuses[0])") }
        if statuses.count > 1 { parts.append("status: \(JSON.array(statuses.map(JSON.integer)).text)") }
        if let body { parts.append("body: \(JSON.string(body).text)") }
        return "health: { \(parts.joined(separator: ", ")) }"
    }
}
