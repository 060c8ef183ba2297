/// What keys mean.

/// What somebody at the keys wants.
public enum WatchWish: Equatable, Sendable {
    case quit
    /// The terminal is given back until somebody brings the program to the foreground.
    case suspend
    /// The screen is drawn anew.
    case redraw
    /// The daemon is asked; what its answer looks like.
    case ask(APIRequest, Answer)
}

extension WatchState {
    /// Takes a key, and returns what has to be done besides drawing.
    public mutating func press(_ key: Key) -> WatchWish? {
        switch key {
        case .control("c"), .control("d"): return .quit
        case .control("z"): return .suspend
        case .control("l"): return .redraw
        default: break
        }
        switch mode {
        case .normal: return pressNormal(key)
        case .filter: pressFilter(key)
        case .scope(let profile): return pressScope(key, profile)
        case .device(let profile, let marked): return pressDevice(key, profile, marked)
        case .help: mode = .normal
        }
        return nil
    }

    private mutating func pressNormal(_ key: Key) -> WatchWish? {
        switch key {
        case .character("q"): return .quit
        case .character("?"), .character("h"): mode = .help
        case .character("s"): order = order.next
        case .character("/"): mode = .filter
        case .character("p"): return probe()
        case .character(let digit) where ("1"..."9").contains(digit):
            let position = (digit.wholeNumberValue ?? 1) - 1
            guard position < ids.count else { break }
            selection = position
            askScope()
        case .up: selection = max(0, selection - 1)
        case .down: selection = min(max(0, ids.count - 1), selection + 1)
        case .enter: askScope()
        case .pageDown: skipped = min(skipped + 10, max(0, shownFlows.count - 1))
        case .pageUp: skipped = max(0, skipped - 10)
        case .escape:
            filter = ""
            skipped = 0
        case .character, .control, .backspace: break
        }
        return nil
    }

    private mutating func probe() -> WatchWish? {
        guard selection < ids.count, work == nil else { return nil }
        work = "probing \(ids[selection]) …"
        return .ask(.probe(ids[selection]), .probed)
    }

    /// A switch names its scope: nobody's phone is moved by a slip.
    private mutating func askScope() {
        guard selection < ids.count, work == nil else { return }
        mode = .scope(ids[selection])
    }

    private mutating func pressFilter(_ key: Key) {
        switch key {
        case .character(let character) where filter.count < 64: filter.append(character)
        case .backspace: if !filter.isEmpty { filter.removeLast() }
        case .enter: mode = .normal
        case .escape:
            filter = ""
            mode = .normal
        default: break
        }
        skipped = 0
    }

    private mutating func pressScope(_ key: Key, _ profile: String) -> WatchWish? {
        switch key {
        case .character("a"): return activate(profile, .all)
        case .character("d"):
            guard let first = deviceIDs.first else {
                finish("no device has been seen yet", isGood: false)
                mode = .normal
                break
            }
            mode = .device(profile, marked: first)
        case .escape, .character("q"): mode = .normal
        default: break
        }
        return nil
    }

    private mutating func pressDevice(_ key: Key, _ profile: String, _ marked: String) -> WatchWish? {
        let place = deviceIDs.firstIndex(of: marked)
        switch key {
        case .up: mark((place ?? 0) - 1, profile)
        case .down: mark((place ?? -1) + 1, profile)
        case .pageUp: mark((place ?? 0) - 10, profile)
        case .pageDown: mark((place ?? 0) + 10, profile)
        case .enter where place != nil: return activate(profile, .device(marked))
        case .escape, .character("q"): mode = .normal
        default: break
        }
        return nil
    }

    private mutating func mark(_ place: Int, _ profile: String) {
        guard !deviceIDs.isEmpty else { return }
        mode = .device(profile, marked: deviceIDs[min(max(0, place), deviceIDs.count - 1)])
    }

    /// What devices are known by, in the order of the list.
    var deviceIDs: [String] { devices.compactMap { $0["id"].raw } }

    private mutating func activate(_ profile: String, _ target: Target) -> WatchWish {
        mode = .normal
        let whom = if case .device(let name) = target { Found.visible(name[...]) } else { "all devices" }
        work = "putting \(whom) on \(profile) …"
        return .ask(.activate(profile, target), .switched)
    }
}
