/// Owned elements that are found again by a number.
///
/// A `Handle` carries the generation of its place, so a late event for an element that is gone is
/// recognised instead of reaching its successor. Places come in pages of 256, so no element ever moves;
/// `releaseVacantPages` gives the memory of pages without elements back.

/// The name of an element of a `Slab`.
///
/// It packs into 64 bits for epoll tokens and timers.
public struct Handle: Hashable, Sendable {
    public let index: UInt32
    /// Odd while the element lives; it grows by one when the element comes and when it goes.
    public let generation: UInt32

    @inlinable public init(index: UInt32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }
}

/// A growing store of owned elements with O(1) insertion, removal and access.
@safe public struct Slab<Element: ~Copyable>: ~Copyable {
    @usableFromInline static var pageSize: Int { 256 }

    /// Nil for a page whose memory was given back.
    @usableFromInline var pages: [UnsafeMutablePointer<Element>?] = unsafe []
    @usableFromInline var generations: [UInt32] = []
    @usableFromInline var vacant: [UInt32] = []

    /// How many elements live.
    public private(set) var count = 0

    /// For how many elements there is memory.
    public private(set) var placeCount = 0

    public init() {}

    deinit {
        for index in generations.indices where generations[index] & 1 == 1 {
            // Safe: an odd generation marks an initialised place.
            unsafe place(UInt32(index)).deinitialize(count: 1)
        }
        for index in unsafe pages.indices { unsafe pages[index]?.deallocate() }
    }

    /// Adds an element and returns its handle.
    public mutating func insert(_ element: consuming Element) -> Handle {
        if vacant.isEmpty { grow() }
        let index = vacant.removeLast()
        let page = Int(index) / Self.pageSize
        if unsafe pages[page] == nil {
            unsafe pages[page] = .allocate(capacity: Self.pageSize)
            placeCount += Self.pageSize
        }
        // Safe: a vacant place is allocated and not initialised.
        unsafe place(index).initialize(to: element)
        generations[Int(index)] &+= 1
        count += 1
        return Handle(index: index, generation: generations[Int(index)])
    }

    /// Takes the element out; its handle is stale from then on.
    ///
    /// Traps on a stale handle.
    public mutating func remove(_ handle: Handle) -> Element {
        precondition(contains(handle), "stale handle")
        generations[Int(handle.index)] &+= 1
        vacant.append(handle.index)
        count -= 1
        // Safe: `contains` has shown that the place is initialised; its generation says from now on that it is not.
        return unsafe place(handle.index).move()
    }

    /// Gives the memory of pages without elements back; handles stay as good or stale as they are.
    public mutating func releaseVacantPages() {
        for page in unsafe pages.indices {
            let places = page * Self.pageSize..<(page + 1) * Self.pageSize
            guard unsafe pages[page] != nil, generations[places].allSatisfy({ $0 & 1 == 0 }) else { continue }
            // Safe: no place of the page is initialised.
            unsafe pages[page]?.deallocate()
            unsafe pages[page] = nil
            placeCount -= Self.pageSize
        }
    }

    /// Whether the element is still the one that the handle was made for.
    @inlinable public func contains(_ handle: Handle) -> Bool {
        Int(handle.index) < generations.count && generations[Int(handle.index)] == handle.generation
            && handle.generation & 1 == 1
    }

    /// The handle of the living element at this index, if there is one.
    @inlinable public func handle(at index: UInt32) -> Handle? {
        guard Int(index) < generations.count, generations[Int(index)] & 1 == 1 else { return nil }
        return Handle(index: index, generation: generations[Int(index)])
    }

    /// One more than the highest index that was ever used: the bound for walks over all elements.
    @inlinable public var capacity: UInt32 { UInt32(generations.count) }

    /// Traps on a stale handle: using one is a mistake in this program, not in its input.
    @inlinable public subscript(_ handle: Handle) -> Element {
        _read {
            precondition(contains(handle), "stale handle")
            yield unsafe place(handle.index).pointee
        }
        _modify {
            precondition(contains(handle), "stale handle")
            yield unsafe &place(handle.index).pointee
        }
    }

    @usableFromInline func place(_ index: UInt32) -> UnsafeMutablePointer<Element> {
        guard let page = unsafe pages[Int(index) / Self.pageSize] else { preconditionFailure("a vacant page") }
        return unsafe page + Int(index) % Self.pageSize
    }

    private mutating func grow() {
        let first = UInt32(generations.count)
        unsafe pages.append(nil)
        generations.append(contentsOf: repeatElement(0, count: Self.pageSize))
        for index in (first..<first + UInt32(Self.pageSize)).reversed() { vacant.append(index) }
    }
}
