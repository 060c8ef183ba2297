/// # The lab's state, as revisions
///
/// Each change is a file of its own, `lab-000123` and so on, in the folder `lab` of the state directory. The newest
/// whole one counts; the last 20 are kept, so that one can go back, and so that damage to the newest one costs one
/// change and not the lab.
///
///     append ──▶ write beside, fsync, rename, fsync the folder ──▶ then the 21st goes
///     open   ──▶ newest first: whole? it counts · torn or foreign? set aside, and said · newer format? refused
///
/// A number is never given twice, not even that of a file that was set aside; one whose file was not finished when the
/// program ended was never given.

internal import Bytes
internal import LinuxIO

/// The revisions of one state directory, which this process alone uses.
public struct Revisions: ~Copyable, Sendable {
    /// How many are kept.
    public static let kept = 20

    /// The most octets of a state: what the reader of JSON takes as well.
    public static let stateLimit = 16 << 20

    /// The folder of the state directory that the files are in.
    public static let folder = "lab"

    private static let prefix = "lab-"
    private static let fileLimit = stateLimit + 8192

    private let directory: StateDirectory
    /// The number that the next one gets.
    public private(set) var next = 1

    /// The one that counts; nil in a new lab.
    public private(set) var current: Revision?

    /// Those that one can go back to, the newest first.
    public private(set) var history: [RevisionSummary] = []

    /// What was found damaged when the store was opened, one line each, and what became of it.
    public private(set) var recovered: [String] = []

    /// Opens the store of a state directory, and makes it where there is none.
    public static func open(in state: String) throws(StoreError) -> Revisions {
        var revisions = Revisions(directory: try StateDirectory(folder, in: state))
        try revisions.load()
        return revisions
    }

    private init(directory: consuming StateDirectory) { self.directory = directory }

    /// Reads a revision that is kept.
    public func read(_ number: Int) throws(StoreError) -> Revision {
        if let current, current.number == number { return current }
        guard let newest = history.first, let oldest = history.last else { throw .noRevision(number, kept: nil) }
        guard history.contains(where: { $0.number == number }) else {
            throw .noRevision(number, kept: oldest.number...newest.number)
        }
        let name = Self.name(number)
        guard case .success(let revision) = try parse(number) else { throw .damaged(path: "\(directory.path)/\(name)") }
        return revision
    }

    /// Makes a revision that counts from now on, also after the end of power, and returns its number.
    ///
    /// When it fails (no room, among others) the former one still counts.
    public mutating func append(
        state: [UInt8], by: String, how: String, summary: String, at: Int64
    ) throws(StoreError) -> Int {
        guard state.count <= Self.stateLimit else { throw .tooLarge(octets: state.count, limit: Self.stateLimit) }
        precondition(!state.isEmpty, "a state says something")
        let head = RevisionSummary(number: next, at: at, by: by, how: how, summary: summary)
        let revision = Revision(summary: head, state: state)
        let name = Self.name(next)
        do throws(StoreError) {
            try directory.replace(name, with: RevisionFile.write(revision).span)
        } catch {
            // It may already have its name, and would count at the next start.
            try? directory.remove(name)
            throw error
        }
        next += 1
        current = revision
        history.insert(head, at: 0)
        // One that cannot be removed does no harm, and is tried again at the next start.
        while history.count > Self.kept { try? directory.remove(Self.name(history.removeLast().number)) }
        return head.number
    }

    // MARK: Opening

    private mutating func load() throws(StoreError) {
        let names = try directory.names()
        for name in names where name.hasPrefix(Self.prefix) && name.hasSuffix(StateDirectory.unfinished) {
            try? directory.remove(name)
        }
        // A number that was only on its way nobody has heard of: who pushes finds the next one next.
        let given = names.filter { !$0.hasSuffix(StateDirectory.unfinished) }
        next = 1 + (given.compactMap { Self.number(of: $0.split(separator: ".").first ?? "") }.max() ?? 0)
        var damage: [String] = []
        for number in names.compactMap({ Self.number(of: $0[...]) }).sorted(by: >) {
            switch try parse(number) {
            case .success(let revision):
                if current == nil { current = revision }
                history.append(revision.summary)
            case .failure(.newer(let format)):
                // An older one than the one that counts was kept for the newer program.
                guard current == nil else { continue }
                throw .newerFormat(
                    path: "\(directory.path)/\(Self.name(number))", found: format, known: RevisionFile.format)
            case .failure(let fault):
                let aside = try directory.setAside(Self.name(number))
                damage.append("\(directory.path)/\(Self.name(number)): \(fault); set aside as \(aside)")
            }
        }
        let now = current.map { "revision \($0.number) counts" } ?? "no revision is left, so the lab starts anew"
        recovered = damage.map { "\($0); \(now)" }
        while history.count > Self.kept { try? directory.remove(Self.name(history.removeLast().number)) }
    }

    /// Reads one file; what is wrong with it alone is no reason not to start.
    private func parse(_ number: Int) throws(StoreError) -> Result<Revision, RevisionFault> {
        let bytes: [UInt8]
        do throws(StoreError) {
            guard let found = try directory.read(Self.name(number), limit: Self.fileLimit) else {
                return .failure(.cutOff(octets: 0, of: 0))
            }
            bytes = found
        } catch .file(.system(let error)) where error.errno == .inputOutput {
            return .failure(.damaged)
        } catch .file(.notRegular), .file(.tooLarge) {
            return .failure(.foreign)
        }
        do throws(RevisionFault) {
            let revision = try RevisionFile.parse(bytes)
            // A copy under another number.
            return revision.number == number ? .success(revision) : .failure(.foreign)
        } catch {
            return .failure(error)
        }
    }

    private static func name(_ number: Int) -> String {
        let digits = String(number)
        return prefix + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// The number in a file's name.
    private static func number(of name: Substring) -> Int? {
        guard name.hasPrefix(prefix), name.utf8.count < 24, let number = Int(name.dropFirst(prefix.count)),
            number > 0, Self.name(number) == name
        else { return nil }
        return number
    }
}
