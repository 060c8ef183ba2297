/// Talking with the proxy: what is sent, what comes back, and when it is asked a second time.

import Bytes
import LinuxIO
import Wire

extension Dial {
    /// Sends the request on the open connection, or waits for somebody else's verdict on the credentials.
    mutating func ask(
        readingAfterwards: Bool, buffers: inout DialBuffers, memory: inout UpstreamMemory, now: Instant
    ) -> DialProgress {
        showsCredentials = hasCredentials && (isChallenged || showsCredentialsAtOnce)
        if showsCredentials, !holdsClaim {
            switch upstream.gate.ask(at: now) {
            case .allowed: break
            case .claimed: holdsClaim = true
            case .shut: return fail(.credentialsRejected)
            case .busy:
                phase = .holding(until: now + CredentialGate.pause(after: timesHeld))
                timesHeld += 1
                return .waiting
            }
        }
        phase = .asking
        dialogue = writeRequest(into: &buffers.output)
        guard send(buffers.output.span) else { return connectionEnded(memory: &memory, now: now) }
        guard readingAfterwards else { return .waiting }
        return read(untilEnd: true, buffers: &buffers, memory: &memory, now: now)
    }

    /// Writes what a conversation begins with, in place of what the buffer held.
    func writeRequest(into output: inout [UInt8]) -> Dialogue {
        output.removeAll(keepingCapacity: true)
        switch upstream.settings.kind {
        case .http:
            ConnectDialogue.writeRequest(
                to: target, identifying: upstream.settings.identify ? client : nil,
                credentials: showsCredentials ? upstream.credentials : nil, into: &output)
            return .connect(ConnectDialogue())
        case .socks5:
            let socks = SOCKS5Dialogue(to: target, login: upstream.login)
            socks.writeGreeting(into: &output)
            return .socks5(socks)
        case .direct: return .none
        }
    }

    /// Takes an event of the connection while the proxy is asked.
    mutating func converse(
        _ event: PolledEvent, buffers: inout DialBuffers, memory: inout UpstreamMemory, now: Instant
    ) -> DialProgress {
        if event.writable, !unsent.isEmpty {
            let rest = unsent
            unsent = []
            guard send(rest.span) else { return connectionEnded(memory: &memory, now: now) }
        }
        guard event.readable || event.hungUp || event.error else { return .waiting }
        return read(untilEnd: event.hungUp || event.error, buffers: &buffers, memory: &memory, now: now)
    }

    /// Sends bytes and keeps those that the socket does not take; false when the connection is over.
    private mutating func send(_ bytes: Span<UInt8>) -> Bool {
        var taken = 0
        switch connection?.write(bytes) {
        case .bytes(let count): taken = count
        case .wouldBlock: break
        case .failed, nil: return false
        }
        if taken < bytes.count { unsent.append(copying: bytes.extracting(taken..<bytes.count)) }
        return true
    }

    /// Reads what is there; with `untilEnd` a short read is not the last one.
    private mutating func read(
        untilEnd: Bool, buffers: inout DialBuffers, memory: inout UpstreamMemory, now: Instant
    ) -> DialProgress {
        while true {
            var input = buffers.input.mutableSpan
            let capacity = input.count
            switch connection?.read(into: &input) {
            case .bytes(let count):
                let mayRead = untilEnd || count == capacity
                let progress = take(count, mayRead: mayRead, buffers: &buffers, memory: &memory, now: now)
                guard progress == .waiting, phase == .asking, mayRead else { return progress }
            case .wouldBlock:
                return .waiting
            case .end, .failed, nil:
                return connectionEnded(memory: &memory, now: now)
            }
        }
    }

    /// Hands `count` octets of the input to the dialogue.
    private mutating func take(
        _ count: Int, mayRead: Bool, buffers: inout DialBuffers, memory: inout UpstreamMemory, now: Instant
    ) -> DialProgress {
        switch dialogue {
        case .none:
            return .waiting
        case .connect(var connect):
            let step = connect.receive(buffers.input.span.extracting(0..<count))
            let refusal = connect.refusal
            dialogue = .connect(connect)
            isReused = false
            return take(step, refusal: refusal, mayRead: mayRead, memory: &memory, now: now)
        case .socks5(var socks):
            var answer: [UInt8] = []
            let step = socks.receive(buffers.input.span.extracting(0..<count), output: &answer)
            dialogue = .socks5(socks)
            return take(step, answer.span, mayRead: mayRead, memory: &memory, now: now)
        }
    }

    private mutating func take(
        _ step: ConnectDialogue.Step, refusal: Int?, mayRead: Bool, memory: inout UpstreamMemory, now: Instant
    ) -> DialProgress {
        switch step {
        case .needsMore:
            guard let refusal else { return .waiting }
            if refusal != 407, !rejectsCredentials(refusal) { noteAccepted() }
            if upstream.fallsBackToAbsoluteForm(target, status: refusal) {
                return fallBack(memory: &memory, now: now)
            }
            if pageDeadline == .never { pageDeadline = now + (refusal == 407 ? Self.drainTime : Self.pageTime) }
            return .waiting
        case .open(let leftover):
            noteAccepted()
            return opened(leftover: leftover, mayRead: mayRead)
        case .refused(let status, let text):
            if rejectsCredentials(status) {
                noteRejected(now: now)
                return fail(.credentialsRejected)
            }
            noteAccepted()
            if upstream.fallsBackToAbsoluteForm(target, status: status) { return fallBack(memory: &memory, now: now) }
            return fail(.refused(status: status, text: upstream.credentials?.redacted(from: text) ?? text))
        case .challenged(let challenge, let text, let isReusable):
            return challenged(challenge, text, isReusable: isReusable && !mayRead, memory: &memory, now: now)
        case .failed(let error):
            return fail(.malformedReply(error.description))
        }
    }

    private mutating func take(
        _ step: SOCKS5Dialogue.Step, _ output: Span<UInt8>, mayRead: Bool, memory: inout UpstreamMemory, now: Instant
    ) -> DialProgress {
        switch step {
        case .needsMore:
            return .waiting
        case .send:
            return send(output) ? .waiting : connectionEnded(memory: &memory, now: now)
        case .open(let leftover):
            noteAccepted()
            return opened(leftover: leftover, mayRead: mayRead)
        case .refused(let code):
            noteAccepted()
            return fail(.socksRefused(code: code))
        case .noMethod:
            return fail(.schemesNotSupported(["another SOCKS5 login"]))
        case .loginRejected:
            noteRejected(now: now)
            return fail(.credentialsRejected)
        case .failed(let error):
            return fail(.malformedReply(error.description))
        }
    }

    /// Whether a status that is no 407 says that user and password are wrong: tinyproxy has 401 for that, and to
    /// CONNECT nobody behind the proxy can have answered it.
    private func rejectsCredentials(_ status: Int) -> Bool { status == 401 && showsCredentials }

    /// Answers a 407: once, with Basic, if the proxy takes that and the credentials are not known to be bad.
    private mutating func challenged(
        _ challenge: HTTPChallenge, _ text: String, isReusable: Bool, memory: inout UpstreamMemory, now: Instant
    ) -> DialProgress {
        if showsCredentials { noteRejected(now: now) }
        guard hasCredentials else { return fail(.refused(status: 407, text: text)) }
        if !challenge.schemes.isEmpty, !challenge.offersBasic { return fail(.schemesNotSupported(challenge.schemes)) }
        if showsCredentials || upstream.gate.isShut(at: now) { return fail(.credentialsRejected) }
        isChallenged = true
        pageDeadline = .never
        guard isReusable else { return reconnect(memory: &memory, now: now) }
        isReused = true
        // The request goes out with the next turn, where the buffers are at hand again.
        phase = .holding(until: now)
        return .waiting
    }

    /// The connection has ended, or a page has taken too long.
    mutating func connectionEnded(memory: inout UpstreamMemory, now: Instant) -> DialProgress {
        if isReused { return reconnect(memory: &memory, now: now) }
        guard case .connect(var connect) = dialogue, let step = connect.end() else { return fail(.proxyClosed) }
        dialogue = .connect(connect)
        return take(step, refusal: nil, mayRead: false, memory: &memory, now: now)
    }

    /// Carries the same stream on in absolute form, on a connection of its own.
    private mutating func fallBack(memory: inout UpstreamMemory, now: Instant) -> DialProgress {
        inAbsoluteForm = true
        return reconnect(memory: &memory, now: now)
    }

    mutating func opened(leftover: Range<Int>, mayRead: Bool) -> DialProgress {
        // A yes to half a question is no yes.
        guard unsent.isEmpty else { return fail(.malformedReply("given before the request was read")) }
        phase = .over
        let slot = connectedSlot ?? 0
        return .open(
            Opening(
                leftover: leftover, mayRead: mayRead, inAbsoluteForm: inAbsoluteForm, slot: slot,
                watchesWritable: !isWatchedForReading))
    }

    private mutating func noteAccepted() {
        guard showsCredentials else { return }
        upstream.gate.accept()
        holdsClaim = false
    }

    private mutating func noteRejected(now: Instant) {
        upstream.gate.reject(at: now, for: upstream.settings.credentialRest)
        holdsClaim = false
    }
}
