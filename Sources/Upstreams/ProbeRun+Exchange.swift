/// What a probe says on its connection, and what it makes of the answer.

import Bytes
import Health
import LinuxIO
import Wire

extension ProbeRun {
    /// The connection stands: the request goes out.
    mutating func opened(_ opening: Opening, buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        slot = opening.slot
        watchesWriting = opening.watchesWritable
        let taken = dial.value.takeSocket()
        if errand == .reach { return reached(buffers: &buffers, now: now) }
        socket = consume taken
        way = isDirect ? .direct : errand == .absolutePage || opening.inAbsoluteForm ? .absolute : .tunnel
        hasFallenBack = opening.inAbsoluteForm && !beganInAbsoluteForm
        var output: [UInt8] = []
        if errand == .certificate {
            guard let target = request.certificate else { return finish(buffers: &buffers, now: now) }
            var random = SystemRandom()
            TLSServerFlight.writeHello(
                to: target.host, random: (random.next(), random.next(), random.next(), random.next()), into: &output)
            flight = TLSServerFlight()
        } else if let wanted = request.page {
            if way == .tunnel { note(.proxy, now: now, "the tunnel to \(wanted.target) is open") }
            began = now
            wanted.writeRequest(
                inAbsoluteForm: way == .absolute,
                credentials: way == .absolute ? request.upstream.credentials : nil, into: &output)
            page = PageReader(wanted, hiding: request.upstream.credentials)
        }
        // What comes with the proxy's yes comes before the request: no answer to it, whatever it is.
        if !opening.leftover.isEmpty {
            return answeredEarly(Array(buffers.input[opening.leftover]), buffers: &buffers, now: now)
        }
        return send(output, buffers: &buffers, now: now)
    }

    /// A captive portal may answer CONNECT itself with 200 and its page.
    private mutating func answeredEarly(
        _ octets: [UInt8], buffers: inout DialBuffers, now: Instant
    ) -> ProbeProgress {
        let words = "\"\(HTTPErrorText.clean(octets).prefix(60))\" before anything was asked for"
        if flight != nil { return looked(.failure(words), buffers: &buffers, now: now) }
        return conclude(.wrong(words), buffers: &buffers, now: now)
    }

    /// TCP alone was wanted, or is all that rejected credentials leave.
    private mutating func reached(buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        if isLockedOut {
            let words = "not tried: the proxy has rejected the credentials, and they are not sent again yet"
            result.steps.append(ProbeStep(.proxy, took: .zero, failure: .credentialsRejected, words: words))
            result.request = Sample(.request, .bad(.credentialsRejected))
        }
        return finish(buffers: &buffers, now: now)
    }

    // MARK: Moving octets

    /// Takes an event of the connection.
    mutating func converse(_ event: PolledEvent, buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        if event.writable, !unsent.isEmpty {
            let rest = unsent
            unsent = []
            return send(rest, buffers: &buffers, now: now)
        }
        return read(buffers: &buffers, now: now)
    }

    /// Sends, and reads what is there: no event says so again.
    private mutating func send(_ octets: [UInt8], buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        switch socket.value.write(octets.span) {
        case .bytes(let count): unsent = Array(octets[count...])
        case .wouldBlock: unsent = octets
        case .failed: return ended(buffers: &buffers, now: now)
        }
        let progress = read(buffers: &buffers, now: now)
        guard progress == .waiting, !unsent.isEmpty, !watchesWriting else { return progress }
        watchesWriting = true
        return .watchWriting(descriptor: socket.value.descriptor.number, slot: slot)
    }

    private mutating func read(buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        while true {
            var input = buffers.input.mutableSpan
            switch socket.value.read(into: &input) {
            case .bytes(let count):
                if let progress = take(count, buffers: &buffers, now: now) { return progress }
            case .wouldBlock: return .waiting
            case .end, .failed: return ended(buffers: &buffers, now: now)
            }
        }
    }

    /// Takes octets; nil when more are needed.
    private mutating func take(_ count: Int, buffers: inout DialBuffers, now: Instant) -> ProbeProgress? {
        if flight != nil {
            guard let look = flight.value.receive(buffers.input.span.extracting(0..<count)) else { return nil }
            return looked(look, buffers: &buffers, now: now)
        }
        guard page != nil else { return finish(buffers: &buffers, now: now) }
        let hadHead = page.value.status != nil
        let verdict = page.value.receive(buffers.input.span.extracting(0..<count))
        if !hadHead, let status = page.value.status {
            let since = connectedAt ?? began
            // How long it took counts only where the answer is the right one.
            if way != .absolute || status != 407 { note(.request, now: now, "status \(status)") }
            result.request = Sample(.request, .good(now - since))
            if page.value.awaitsWords { endOfPatience = now + Self.wordsTime }
        }
        return verdict.map { conclude($0, buffers: &buffers, now: now) }
    }

    /// The other side has closed.
    private mutating func ended(buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        if flight != nil {
            return looked(.failure("the connection was closed without a certificate"), buffers: &buffers, now: now)
        }
        if page != nil, let verdict = page.value.end(isClosed: true) {
            return conclude(verdict, buffers: &buffers, now: now)
        }
        return missed(.closedPage(way), "closed without an answer", buffers: &buffers, now: now)
    }

    /// Nothing came in time, or the rest of an error's words did not.
    mutating func patienceIsOver(buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        if flight != nil {
            return looked(.failure("no certificate came in time"), buffers: &buffers, now: now)
        }
        if page != nil, let verdict = page.value.end(isClosed: false) {
            return conclude(verdict, buffers: &buffers, now: now)
        }
        let time = request.timeout.words
        return missed(.silentPage(way, time), "no answer within \(time)", buffers: &buffers, now: now)
    }

    // MARK: Concluding

    private mutating func missed(
        _ cause: Cause, _ words: String, buffers: inout DialBuffers, now: Instant
    ) -> ProbeProgress {
        result.steps.append(ProbeStep(.request, took: now - began, failure: cause, words: words))
        result.request = Sample(.request, .bad(cause))
        return finish(buffers: &buffers, now: now)
    }

    private mutating func conclude(
        _ verdict: PageVerdict, buffers: inout DialBuffers, now: Instant
    ) -> ProbeProgress {
        if request.page?.keepsBody ?? false {
            result.body = verdict == .right ? page.value.body : nil
            result.redirect = page.value.redirect
        }
        guard var cause = Cause(verdict, way) else {
            note(.page, now: now, "as expected")
            return finish(buffers: &buffers, now: now)
        }
        if hasFallenBack {
            // It refuses the page as it has refused CONNECT: that is its answer to us, and no page.
            if let status = page.value.status, status == 403 || status == 405 {
                cause = .refused(status: status, text: page.value.words)
            }
            request.upstream.forgetAbsoluteForm()
        }
        if case .wantsLogin = verdict, way == .absolute, request.upstream.credentials != nil {
            request.upstream.credentialsWereRejected(at: now)
        }
        var step = ProbeStep.Name.page
        if case .malformed = verdict { step = .request }
        if case .wantsLogin = verdict { step = .proxy }
        result.steps.append(ProbeStep(step, took: now - began, failure: cause, words: verdict.words))
        result.request = Sample(.request, .bad(cause))
        return finish(buffers: &buffers, now: now)
    }

    private mutating func looked(
        _ look: TLSServerFlight.Outcome, buffers: inout DialBuffers, now: Instant
    ) -> ProbeProgress {
        switch look {
        case .certificate(let names): result.certificate = .issuer(names.issuer)
        case .failure(let words): result.certificate = .unreadable(words)
        }
        return finish(buffers: &buffers, now: now)
    }
}

extension PageVerdict {
    /// The verdict in one line.
    fileprivate var words: String {
        switch self {
        case .right: "as expected"
        case .wrong(let words): words
        case .malformed(let words): words
        case .failing(let status, let text): "\(status)\(text.isEmpty ? "" : ": \(text)")"
        case .wantsLogin(let challenge):
            "407\(challenge.schemes.isEmpty ? "" : ", it accepts \(challenge.schemes.joined(separator: ", "))")"
        }
    }
}

extension Interval {
    /// The time in words: whole seconds where it is whole seconds.
    fileprivate var words: String {
        milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
