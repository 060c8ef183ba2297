/// Names with wildcards for whole labels, as Clash has them: `*.example.com`, `sub.*.example.com`, `*`.

/// Such a name, cut behind its last wildcard.
struct LabelPattern: Sendable {
    /// What stands behind the last wildcard; nil when that is the last label.
    let suffix: [UInt8]?
    /// What stands before, first label first; nil is any label, and never several.
    let labels: [[UInt8]?]
    let rule: UInt32

    /// Cuts a name with at least one wildcard.
    init(_ name: ArraySlice<UInt8>, rule: UInt32) throws(DomainNameError) {
        self.rule = rule
        var parts = name.split(separator: DomainName.dot, omittingEmptySubsequences: false)
        let last = parts.lastIndex { $0.elementsEqual([UInt8(ascii: "*")]) } ?? parts.endIndex - 1
        let tail = Array(parts[(last + 1)...].joined(separator: [DomainName.dot]))
        parts.removeSubrange((last + 1)...)
        suffix = tail.isEmpty ? nil : tail
        var labels: [[UInt8]?] = []
        for part in parts {
            if part.elementsEqual([UInt8(ascii: "*")]) {
                labels.append(nil)
                continue
            }
            var label: [UInt8] = []
            try DomainName.append(part, to: &label)
            labels.append(label)
        }
        self.labels = labels
    }

    /// Whether the labels before the suffix are these.
    func matches(_ front: Span<UInt8>) -> Bool {
        var start = 0
        for (index, wanted) in labels.enumerated() {
            guard start <= front.count else { return false }
            var end = start
            while end < front.count, front[end] != DomainName.dot { end += 1 }
            if let wanted {
                guard wanted.count == end - start else { return false }
                for offset in 0..<wanted.count where wanted[offset] != front[start + offset] { return false }
            }
            if index == labels.count - 1 { return end == front.count && end > start }
            start = end + 1
        }
        return false
    }
}

extension LabelPattern: CustomStringConvertible {
    var description: String {
        let texts = labels.map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "*" }
        let front = texts.joined(separator: ".")
        return suffix.map { front + "." + String(decoding: $0, as: UTF8.self) } ?? front
    }
}
