/// The ring of tests in which the whole daemon carries real traffic between network namespaces.
///
/// One lab at a time: they share two cores with what they measure. The suites are extensions of `LabTests`
/// in files of their own.

import TestSupport
import Testing

@Suite("In the lab", .serialized, .unless(Lab.obstacle))
enum LabTests {}

@Test("the lab is there when it must be (CI=true)")
func theLabIsAvailable() {
    if Lab.isRequired { #expect(Lab.obstacle == nil) }
}
