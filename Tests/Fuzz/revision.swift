/// Any bytes as a revision's file, and as what stands in one behind a first line that fits.

import Store

func fuzzRevision(_ bytes: [UInt8]) {
    check(bytes)
    check(RevisionFile.sealed(bytes, format: RevisionFile.format))
}

/// What reads as a revision is one that is written so.
private func check(_ bytes: [UInt8]) {
    do throws(RevisionFault) {
        let revision = try RevisionFile.parse(bytes)
        precondition(RevisionFile.write(revision) == bytes, "another revision")
        for text in [revision.summary.by, revision.summary.how, revision.summary.summary] {
            precondition(!text.utf8.contains { $0 < 0x20 || $0 == 0x7f }, "a summary that is no line")
        }
    } catch {
        precondition(!"\(error)".isEmpty, "a refusal without words")
    }
}
