/// What is told about an upstream: all of it on request, and changes as they happen.

public import Bytes

/// An upstream's colour with its reason, and what each layer last showed.
public struct HealthReport: Equatable, Sendable {
    public var colour: Colour
    /// Why it is not green.
    public var cause: Cause?
    /// What is worth a word although it is green.
    public var note: String?
    /// Since when it has had this colour.
    public var since: Instant
    /// The last good request of a probe.
    public var lastGood: Instant?
    public var connect: LayerReport?
    public var request: LayerReport?
    public var traffic: LayerReport?

    /// A layer's report, or nil when it has not been tried.
    public subscript(_ layer: Sample.Layer) -> LayerReport? {
        switch layer {
        case .connect: connect
        case .request: request
        case .traffic: traffic
        }
    }
}

/// What one layer last showed.
public struct LayerReport: Equatable, Sendable {
    public var outcome: Sample.Outcome
    public var at: Instant
    /// How long it took when it was last good.
    public var latency: Interval?
    /// How often in a row it was not good.
    public var misses: Int
}

/// A change that people care about: of the colour, of the kind of its cause, or a note that came or went.
public struct HealthChange: Equatable, Sendable {
    public var former: Colour
    public var colour: Colour
    public var cause: Cause?
    public var note: String?

    public init(former: Colour, colour: Colour, cause: Cause?, note: String?) {
        self.former = former
        self.colour = colour
        self.cause = cause
        self.note = note
    }
}

extension HealthChange {
    /// One line for logs and events: `whistle-qa is red, it was green: nobody listens at the port of whistle-qa: …`.
    public func sentence(_ name: String) -> String {
        let past = former == colour ? "" : ", it was \(former.rawValue)"
        let colours = "\(name) is \(colour.rawValue)\(past)"
        guard let why = cause?.sentence(name) ?? note else { return colours }
        return "\(colours): \(why)"
    }
}
