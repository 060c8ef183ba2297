/// # Bytes: what every other module is made of
///
/// Borrowed bytes are a `Span<UInt8>`, owned bytes live in chunks of one `BufferPool`, and things that are
/// found again by a number live in a `Slab` behind a `Handle`. Time is an `Instant`, a distance in time an
/// `Interval`. `NearMiss` finds the word that a mistyped one was meant to be. Nothing here does I/O or reads a clock.
///
///     Span<UInt8>      network-order reads             NetworkOrder
///     MutableSpan      network-order writes, copies    NetworkOrder, ByteCopy
///     BufferPool       16 KiB chunks, one budget       BufferPool
///     ByteRuns         up to 8 pieces of chunks        ByteRuns      (what scatter/gather I/O moves)
///     ByteQueue        a first-in first-out of bytes   ByteQueue     (no memory when empty)
///     Slab, Handle     owned elements by number        Slab
///
/// Unsafe code is in `InternetChecksum`, `ByteCopy`, `Slab` and `BufferPool` alone.
