/// The choice among pages that are tried through one upstream.

import Bytes
import Health
import Testing
import Upstreams
import Wire

@Suite struct ProbeChoiceTests {
    private static func pages(_ hosts: String...) -> [ProbePage] { hosts.map { ProbePage(Target("\($0):80")) } }

    private static func result(_ request: Sample.Outcome?, connect: Sample.Outcome = .good(.zero)) -> ProbeResult {
        var result = ProbeResult(ticket: 0)
        result.connect = Sample(.connect, connect)
        result.request = request.map { Sample(.request, $0) }
        return result
    }

    @Test("the first that answers is chosen, in the list's order, whichever is heard first")
    func choice() {
        let pages = Self.pages("a", "b", "c")
        var choice = ProbeChoice(pages)
        choice.take(Self.result(.good(.zero)), of: 2)
        #expect(choice.chosen == nil && choice.next == 0)
        choice.take(Self.result(.bad(.wrongPage("302"))), of: 0)
        #expect(choice.chosen == nil && choice.next == 1)
        choice.take(Self.result(.good(.zero)), of: 1)
        #expect(choice.chosen == 1 && choice.next == nil && choice.verdicts[0] == .bad(.wrongPage("302")))
    }

    @Test("a proxy that is not there, or that rejects the login, is not tried with every page")
    func hopeless() {
        let pages = Self.pages("a", "b")
        for result in [Self.result(nil, connect: .bad(.portClosed)), Self.result(.bad(.credentialsRejected))] {
            var choice = ProbeChoice(pages)
            choice.take(result, of: 0)
            #expect(choice.next == nil && choice.chosen == nil && choice.isHopeless)
        }
        var none = ProbeChoice(pages)
        for page in 0..<2 { none.take(Self.result(.bad(.originFailing("x"))), of: page) }
        #expect(none.next == nil && none.chosen == nil && !none.isHopeless)
    }
}
