/// # Tests of the assembly
///
/// Real workers on a bench (`Bench`), one test at a time: the device's packets, the upstream's bytes and the
/// clock are the test's own, so no test needs root, a TUN device or a pause.

import Testing

@Suite("Worker", .serialized)
enum WorkerTests {}
