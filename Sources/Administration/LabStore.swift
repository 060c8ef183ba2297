/// The lab's state and where it is kept.
///
/// A class, because what holds the store must not be copied, and who holds that could not be a plain value.

import Bytes
import LinuxIO
import Profiles
import Store

/// Revisions on the disk, or in memory alone where nothing is to outlive the program.
final class LabStore {
    /// Who changes something, and how.
    struct Note {
        /// A Unix user, a key, the daemon itself.
        var by: String
        /// The command or the event.
        var how: String
        /// What changes, in a few words.
        var summary: String
    }

    private var revisions: Revisions?
    /// The number of the state that counts; 0 before the first change.
    private(set) var number = 0
    private(set) var state = LabState()
    /// What was found damaged, and what became of it.
    private(set) var recovered: [String] = []
    /// Why nothing outlives the program although it should.
    private(set) var trouble: String?

    /// Opens the store of a state directory; nil: nothing is kept.
    ///
    /// A directory that cannot be used is no reason not to start; a state that cannot be understood is one.
    static func open(in directory: String?) throws(StartupError) -> LabStore {
        let store = LabStore()
        guard let directory else { return store }
        do throws(StoreError) {
            store.revisions = try Revisions.open(in: directory)
        } catch {
            switch error {
            case .system(let cause) where !cause.hasNoPlace: throw .store(error)
            case .system, .inUse: store.trouble = "\(error)"
            default: throw .store(error)
            }
            return store
        }
        store.recovered = store.revisions.value.recovered
        guard let current = store.revisions.value.current else { return store }
        store.number = current.number
        do throws(ConfigurationError) {
            store.state = try LabState.parse(current.state.span)
        } catch {
            throw .configuration("\(directory)/lab, revision \(current.number)", error)
        }
        return store
    }

    private init() {}

    /// Keeps a state: it counts when this returns, and when it throws the former one does.
    func keep(_ state: LabState, _ note: Note) throws(StoreError) {
        if revisions != nil {
            number = try revisions.value.append(
                state: Array(state.json.text.utf8), by: note.by, how: note.how, summary: note.summary,
                at: Clock.unixTime().seconds)
        } else {
            number += 1
        }
        self.state = state
    }

    /// The number that the next state will have.
    var next: Int { revisions != nil ? revisions.value.next : number + 1 }

    /// Those that one can go back to, the newest first.
    var history: [RevisionSummary] { revisions != nil ? revisions.value.history : [] }

    /// A state that once counted.
    func state(of number: Int) throws(StoreError) -> LabState {
        guard revisions != nil else { throw .noRevision(number, kept: nil) }
        let revision = try revisions.value.read(number)
        do throws(ConfigurationError) {
            return try LabState.parse(revision.state.span)
        } catch {
            throw .damaged(path: "revision \(number)")
        }
    }
}

extension SystemCallError {
    /// Whether there is no place for the state here, as for a user without rights; anything else hides one that is
    /// there.
    fileprivate var hasNoPlace: Bool {
        [.noSuchFile, .accessDenied, .notPermitted, .readOnlyFileSystem].contains(errno)
    }
}
