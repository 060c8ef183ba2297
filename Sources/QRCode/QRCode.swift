/// # QR codes: text in, modules out
///
/// A symbol of ISO/IEC 18004 (Model 2) is a square of dark and light modules. Making one is a pipeline of values; each
/// step is a file, and none of them does I/O:
///
///     text ── Segmentation ──▶ [Segment] ── DataBits ──▶ data codewords
///          ── ReedSolomon, Blocks ──▶ all codewords ── Canvas ──▶ eight masked symbols ── Penalty ──▶ QRCode
///     QRCode ── Terminal, SVG, PNG ──▶ what people point a camera at
///
/// The shortest segmentation is found by dynamic programming, the smallest version that holds it is taken, and of the
/// eight masks the one with the fewest penalty points. Text beyond ASCII goes as UTF-8 without an ECI header: that is
/// what cameras of phones expect, and some hand scanners print the header instead of obeying it.
///
/// Section numbers are those of ISO/IEC 18004:2015.

/// One finished symbol, without its quiet zone.
public struct QRCode: Equatable, Sendable {
    /// The side of the light frame that a reader needs around a symbol, in modules (section 6.3.8).
    public static let quietZone = 4

    public let version: Version
    public let level: ErrorCorrection
    public let mask: Mask
    let modules: ModuleGrid

    /// The side of the symbol in modules: 21 to 177.
    public var size: Int { modules.size }

    /// Whether the module at a row and a column is dark.
    ///
    /// Both count from 0 at the upper left; outside the symbol everything is light.
    public subscript(row: Int, column: Int) -> Bool {
        modules.contains(row, column) && modules[row, column]
    }

    /// Makes the symbol of a text, in UTF-8.
    ///
    /// - Parameters:
    ///   - text: Anything, the empty text too; digits and capitals take less room than other characters.
    ///   - level: How much of the symbol may be unreadable.
    ///   - versions: The sizes that may be used; the smallest one that fits is.
    ///   - mask: The pattern to lay over the symbol; nil takes the one that reads best (section 7.8).
    /// - Throws: `QRCodeError` where the text fits no version.
    public init(
        _ text: String, level: ErrorCorrection = .medium,
        versions: ClosedRange<Version> = .smallest ... .largest, mask: Mask? = nil
    ) throws(QRCodeError) {
        try self.init(bytes: Array(text.utf8), level: level, versions: versions, mask: mask)
    }

    /// Makes the symbol of octets of any kind; a reader gets exactly these.
    ///
    /// - Parameters:
    ///   - bytes: Any octets.
    ///   - level: How much of the symbol may be unreadable.
    ///   - versions: The sizes that may be used; the smallest one that fits is.
    ///   - mask: The pattern to lay over the symbol; nil takes the one that reads best.
    /// - Throws: `QRCodeError` where the octets fit no version.
    public init(
        bytes: [UInt8], level: ErrorCorrection = .medium,
        versions: ClosedRange<Version> = .smallest ... .largest, mask: Mask? = nil
    ) throws(QRCodeError) {
        guard let (version, segments) = Segmentation.fit(bytes, level: level, versions: versions) else {
            let fits = versions.upperBound.octets(at: level)
            throw QRCodeError(found: bytes.count, level: level, largest: versions.upperBound, fits: fits)
        }
        let blocks = Blocks(version: version, level: level)
        let data = DataBits.codewords(bytes, segments, version: version, capacity: blocks.dataCount)
        let canvas = Canvas(version: version, codewords: blocks.interleaved(data))
        let (mask, modules) = canvas.finished(level: level, mask: mask)
        self.version = version
        self.level = level
        self.mask = mask
        self.modules = modules
    }
}

/// The text is too long for the symbols that are allowed.
public struct QRCodeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The octets of the text.
    public let found: Int
    public let level: QRCode.ErrorCorrection
    public let largest: QRCode.Version
    /// The most octets of any kind that the largest symbol holds at this level; digits and capitals may be more.
    public let fits: Int

    public var description: String {
        "the text is too long for a QR code: found \(found) octets; expected at most \(fits)"
            + " (version \(largest.number), error correction \(level.letter))"
            + (level == .low ? "" : "; a lower level holds more")
    }
}
