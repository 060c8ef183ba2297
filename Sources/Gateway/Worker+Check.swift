/// Flows without an upstream: connectivity checks that the gateway answers itself (`phones.connectivity: answer`), and
/// the images of self-checks.
///
/// The client is accepted at once, and what it says is kept as for an upstream that takes its time. One request is
/// answered at a time, the next one when the device has the answer: so a device that reads nothing costs nothing.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay
import Routing
import Streams
import Upstreams
import Wire

/// What is known of a flow that is answered here.
struct Check {
    var session: CheckSession
    /// Where it goes if it asks for something else.
    var destination: Destination
    /// When a client that asks for nothing more is bidden farewell, or has had its time to leave.
    var deadline: Instant
    var isOver = false
}

extension Worker {
    /// How long a client may take for a request.
    private static var checkPatience: Interval { .seconds(10) }

    /// Accepts the client of a flow that is answered here.
    mutating func beginAnswering(
        _ handle: Handle, _ destination: Destination, _ route: Route, _ subject: CheckSession.Subject
    ) {
        flows[handle].takes(destination, route, through: nil)
        flows[handle].check = checks.insert(
            Check(session: CheckSession(subject), destination: destination, deadline: now + Self.checkPatience))
        if flows[handle].endpoint != nil {
            flows[handle].endpoint.value.accept()
        } else if !flows[handle].isPlainRequest {
            acceptInbound(handle)
        }
        touch(handle)
    }

    /// Answers what the client has asked for since the last time.
    mutating func answerCheck(_ handle: Handle) {
        guard let check = flows[handle].check else { return }
        if flows[handle].client != nil {
            flows[handle].client.value.flush(pool: &pool)
            holdClientBytes(handle)
        }
        while !checks[check].isOver, mayAnswer(handle) {
            let request = unanswered(handle)
            var reply: [UInt8] = []
            switch checks[check].session.take(request.span, output: &reply) {
            case .needsMore:
                guard flows[handle].relay.up.phase == .open else { break }
                return
            case .noCheck:
                return endAnswering(handle)
            case .answered(let count, let isLast):
                noteAnswer(handle, check)
                removePending(count, handle)
                checks[check].deadline = now + Self.checkPatience
                sayAnswer(reply.span, to: handle)
                guard isLast else { continue }
            }
            beginFarewell(handle, check)
        }
        passCheckEnds(handle, check)
    }

    /// Counts what was answered, or notes whose image it was, and which way that came.
    private mutating func noteAnswer(_ handle: Handle, _ check: Handle) {
        switch checks[check].session.subject {
        case .connectivity: counters.checksAnswered += 1
        case .image(let event):
            guard let nonce = checks[check].session.nonce else { return }
            seenChecks.note(nonce, event, by: flows[handle].key.client.address, at: now)
        }
    }

    /// Whether the client has what it was told before, and there is room for more.
    private mutating func mayAnswer(_ handle: Handle) -> Bool {
        guard flows[handle].endpoint != nil else { return flows[handle].client.value.waiting.isEmpty }
        guard flows[handle].endpoint.value.queued == 0 else { return false }
        if flows[handle].endpoint.value.sendSpace(pool: pool, settings: shared.settings.tcp) > 0 { return true }
        if pool.available == 0 { starve(handle) }
        return false
    }

    /// The first octets that the client has sent and was not answered.
    private mutating func unanswered(_ handle: Handle) -> [UInt8] {
        let runs = pendingRuns(handle)
        var bytes: [UInt8] = []
        for position in 0..<runs.runCount where bytes.count < CheckSession.maximumHead {
            var run = runs[position]
            run.count = min(run.count, CheckSession.maximumHead - bytes.count)
            pool.withBytes(run) { bytes.append(copying: $0) }
        }
        return bytes
    }

    private mutating func sayAnswer(_ bytes: Span<UInt8>, to handle: Handle) {
        flows[handle].relay.moved(bytes.count, from: .upstream, at: now)
        guard flows[handle].endpoint != nil else { return say(bytes, to: handle) }
        if flows[handle].endpoint.value.append(bytes, pool: &pool) < bytes.count { lacksMemory(handle) }
    }

    private mutating func beginFarewell(_ handle: Handle, _ check: Handle) {
        checks[check].isOver = true
        checks[check].deadline = now + Self.farewell.halfClose
        flows[handle].relay.sourceEnded(.upstream, at: now)
    }

    /// Passes our end on once the client has every answer; what it still says goes nowhere.
    private mutating func passCheckEnds(_ handle: Handle, _ check: Handle) {
        guard checks[check].isOver else { return }
        dropPending(handle)
        _ = flows[handle].relay.drained(.client, halfClose: .pass)
        if flows[handle].endpoint != nil {
            if flows[handle].relay.drained(.upstream, halfClose: .pass) { flows[handle].endpoint.value.finish() }
        } else if flows[handle].client.value.waiting.isEmpty, flows[handle].relay.drained(.upstream, halfClose: .pass) {
            flows[handle].client.value.socket.shutdownSend()
        }
    }

    private mutating func dropPending(_ handle: Handle) {
        if flows[handle].endpoint != nil {
            let unread = flows[handle].endpoint.value.unread
            flows[handle].endpoint.value.removeUnread(unread, pool: &pool)
        } else {
            flows[handle].held.removeAll(in: &pool)
        }
    }

    /// A client that asks for nothing more, or does not leave.
    mutating func checkIsOverdue(_ handle: Handle, _ check: Handle) {
        guard !checks[check].isOver else { return abort(handle, because: .halfCloseTimeout) }
        beginFarewell(handle, check)
        touch(handle)
    }

    /// The flow is none of the checks of its host: the rules decide, and whoever refuses it now resets it.
    private mutating func endAnswering(_ handle: Handle) {
        guard let check = flows[handle].check else { return }
        flows[handle].check = nil
        let destination = checks.remove(check).destination
        let device = flows[handle].key.client.address
        follow(Self.choose(destination, from: device, by: shared.policy, asksNoCheck: true), of: handle)
    }
}
