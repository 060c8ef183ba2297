/// Those who wait for a probe: somebody who has asked for one, or who has just switched.

import Bytes
import Control
import Gateway
import Health
import LinuxIO
import Profiles
import Upstreams

/// What is answered when a probe has ended.
enum ProbeQuestion {
    /// What a profile's upstream is like.
    case round(profile: String)
    /// Whether the upstream is there to which somebody has just switched; the answer is complete but for that.
    case preflight(profile: String, answer: ControlAnswer)
    /// Which of several pages answers first: one is under way, others are left.
    case pages(PageSearch)
}

/// Pages that are tried one after the other through one upstream.
struct PageSearch {
    var profile: String
    var choice: ProbeChoice
    /// Which of them is under way.
    var current = 0
}

extension Administrator {
    /// How long a switch waits for the connection to its upstream.
    static let preflightTime = Interval.seconds(3)

    /// Tries the upstream of a profile, or pages through it.
    mutating func probe(
        _ wish: ControlCall.ProbeWish, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        let id = wish.profile ?? plan.active.id
        try checkProfile(id)
        let now = Clock.now()
        guard plan.effective.configuration.profile(id)?.upstream.group == nil else {
            let members = desk?.groups[id]?.options.members.joined(separator: ", ") ?? ""
            throw ControlError(
                .badRequest, "profile: \(id) is a group; expected one of its members: \(members)", path: "profile")
        }
        guard wish.pages.isEmpty else { return try searchPages(wish.pages, id, &gateway) }
        if desk?.watched[id] == nil { desk?.begin(id, plan, gateway, at: now) }
        guard let ticket = desk?.ask(id, at: now) else {
            throw ControlError(
                .conflict, "\(id) is not probed: its profile says `health: false`; expected one that is",
                path: "profile")
        }
        desk?.questions[ticket, default: []].append(.round(profile: id))
        return .later(newPromise(for: ticket))
    }

    private mutating func searchPages(
        _ urls: [String], _ id: String, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        var pages: [ProbePage] = []
        for url in urls {
            do throws(PageListError) {
                // In the notation of a list: a page may be right with another status, or with a text.
                pages += try PageList.read(url).map(ProbePage.init)
            } catch {
                throw ControlError(.badValue, "urls: \(error.words)", path: "urls")
            }
        }
        let search = PageSearch(profile: id, choice: ProbeChoice(pages))
        guard let ticket = beginPage(of: search, gateway) else {
            throw ControlError(.unavailable, "too many probes are under way; expected fewer: try again")
        }
        desk?.questions[ticket] = [.pages(search)]
        return .later(newPromise(for: ticket))
    }

    private mutating func beginPage(of search: PageSearch, _ gateway: borrowing Gateway) -> UInt64? {
        guard let position = plan.position(of: search.profile), let ticket = desk?.newTicket() else { return nil }
        let request = ProbeRequest(gateway.upstream(ofProfile: position), page: search.choice.pages[search.current])
        return desk?.prober.begin(request, ticket: ticket) ?? false ? ticket : nil
    }

    /// Has the answer to a switch wait until its upstream has been connected to; one of which something is known is
    /// judged by that.
    ///
    /// The switch itself has happened: whoever switches is told, and nobody waits for it.
    mutating func preflighted(
        _ answer: ControlAnswer, to profile: String, _ gateway: borrowing Gateway
    ) -> ControlAnswer {
        guard let one = desk?.watched[profile], one.upstream.server != nil else { return answer }
        let report = one.health.report
        if let connect = report.connect, Clock.now() - connect.at < one.options.interval {
            return answer.warning(report.colour == .green ? nil : report.cause?.sentence(profile))
        }
        guard let ticket = desk?.newTicket() else { return answer }
        var request = ProbeRequest(one.upstream)
        request.timeout = Self.preflightTime
        guard desk?.prober.begin(request, ticket: ticket) ?? false else { return answer }
        desk?.questions[ticket] = [.preflight(profile: profile, answer: answer)]
        return .later(newPromise(for: ticket))
    }

    /// A promise that is kept when a probe ends; several may wait for one.
    private mutating func newPromise(for ticket: UInt64) -> UInt64 {
        let promise = desk?.newTicket() ?? 0
        promises[ticket, default: []].append(promise)
        return promise
    }

    /// Answers those who have waited for a probe.
    mutating func answerQuestions(_ result: ProbeResult, _ gateway: inout Gateway) {
        takeAuthority(result)
        takeTrial(result, &gateway)
        let questions = desk?.questions.removeValue(forKey: result.ticket) ?? []
        let waiting = promises.removeValue(forKey: result.ticket) ?? []
        for (question, promise) in zip(questions, waiting) {
            switch question {
            case .round(let profile): deliver(answer(result, of: profile), promise)
            case .preflight(let profile, let answer):
                let failure = result.steps.first { $0.failure != nil }?.failure
                deliver(answer.warning(failure?.sentence(profile)), promise)
            case .pages(let search): goOn(search, result, promise, gateway)
            }
        }
    }

    private mutating func goOn(
        _ search: PageSearch, _ result: ProbeResult, _ promise: UInt64, _ gateway: borrowing Gateway
    ) {
        var search = search
        search.choice.take(result, of: search.current)
        if let next = search.choice.next {
            search.current = next
            if let ticket = beginPage(of: search, gateway) {
                desk?.questions[ticket] = [.pages(search)]
                promises[ticket] = [promise]
                return
            }
        }
        var tried: [JSON] = []
        for (page, verdict) in zip(search.choice.pages, search.choice.verdicts) {
            guard let verdict else { continue }
            var failure: Cause?
            if case .bad(let cause) = verdict { failure = cause }
            tried.append(
                .members([
                    "url": .string(page.url), "ok": .boolean(failure == nil),
                    "cause": failure.map { .string($0.sentence(search.profile)) } ?? .null,
                ]))
        }
        let chosen = search.choice.chosen.map { JSON.string(search.choice.pages[$0].url) } ?? .null
        deliver(ControlAnswer(.members(["chosen": chosen, "tried": .array(tried)])), promise)
    }

    private func answer(_ result: ProbeResult, of profile: String) -> ControlAnswer {
        let steps = result.steps.map { step in
            JSON.members([
                "step": .string(step.name.rawValue), "ok": .boolean(step.failure == nil),
                "ms": .integer(Int(step.took.milliseconds)), "words": .string(step.words),
                "error": step.failure.map { .string($0.sentence(profile)) } ?? .null,
            ])
        }
        return ControlAnswer(
            .members(["profile": .string(profile), "steps": .array(steps), "health": healthJSON(of: profile)]))
    }

    /// Keeps a promise with the next turn of the loop.
    mutating func deliver(_ answer: ControlAnswer, _ promise: UInt64) {
        let sealed = waiting.removeValue(forKey: promise).map { seal(answer, to: $0) } ?? answer
        deliveries.append((promise, sealed))
    }
}

extension ControlAnswer {
    /// The same answer with one more warning.
    fileprivate func warning(_ words: String?) -> ControlAnswer {
        guard let words, case .json(.object(var members)) = content else { return self }
        for index in members.indices where members[index].key == "warnings" {
            guard case .array(let warnings) = members[index].value else { continue }
            members[index].value = .array(warnings + [.string(words)])
        }
        return ControlAnswer(.object(members), status: status)
    }
}
