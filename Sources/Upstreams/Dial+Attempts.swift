/// Connecting: one address after the other, and beside each other when one takes long (RFC 8305, section 5).

import Addresses
import Bytes
import LinuxIO

extension Dial {
    /// Tries the first address, and asks at once where that connects within the call.
    ///
    /// On a lab's box or its LAN the handshake is often over when `connect` returns; then the request saves a turn
    /// of the caller's loop. Where it is not, the kernel takes nothing yet, and nothing is lost.
    mutating func startFirstAttempt(
        memory: inout UpstreamMemory, buffers: inout DialBuffers, now: Instant
    ) -> DialProgress {
        let progress = startAttempt(memory: &memory, now: now)
        guard case .register(let descriptor, let slot, _) = progress, !isDirect, !inAbsoluteForm, !hasCredentials
        else { return progress }
        // The first attempt has the first place.
        let place = 0
        dialogue = writeRequest(into: &buffers.output)
        let outcome = attempts[place]?.socket.write(buffers.output.span)
        switch outcome {
        case .bytes(let count):
            connect(attempts[place].take(), at: now)
            dropAttempts()
            memory.succeeded(candidates[connectedCandidate])
            phase = .asking
            unsent.append(copying: buffers.output.span.extracting(count...))
            isWatchedForReading = unsent.isEmpty
            return .register(descriptor: descriptor, slot: slot, needsWritable: !isWatchedForReading)
        case .failed(let reason):
            lastError = reason
            drop(place)
            return startAttempt(memory: &memory, now: now)
        case .wouldBlock, nil:
            return progress
        }
    }

    /// Tries the next address.
    mutating func startAttempt(memory: inout UpstreamMemory, now: Instant) -> DialProgress {
        phase = .connecting
        while nextCandidate < candidates.count, let place = freePlace {
            let candidate = nextCandidate
            nextCandidate += 1
            do throws(SystemCallError) {
                let socket = try Socket.connectTCP(
                    to: address(of: candidate), mark: upstream.settings.mark, speaksFirst: !isDirect && !inAbsoluteForm)
                let descriptor = socket.descriptor.number
                // The caller's tokens have other uses for the highest numbers.
                lastSlot = lastSlot % 127 + 1
                attempts[place] = Attempt(socket: socket, slot: lastSlot, candidate: candidate)
                attemptDeadlines[place] = now + upstream.settings.connectTimeout
                nextAttemptTime = nextCandidate < candidates.count ? now + upstream.settings.attemptDelay : .never
                return .register(descriptor: descriptor, slot: lastSlot, needsWritable: true)
            } catch {
                if error.errno.isDescriptorShortage { return fail(.noDescriptors) }
                lastError = error.errno
            }
        }
        nextAttemptTime = .never
        return hasAttempts ? .waiting : failToConnect(memory: &memory)
    }

    /// Takes the verdict of the kernel about one attempt.
    mutating func attemptIsReady(
        _ place: Int, _ event: PolledEvent, memory: inout UpstreamMemory, buffers: inout DialBuffers, now: Instant
    ) -> DialProgress {
        if event.error {
            lastError = attempts[place]?.socket.connectError() ?? .connectionReset
            drop(place)
            // The next address does not wait for the stagger any more.
            return startAttempt(memory: &memory, now: now)
        }
        guard event.writable else { return .waiting }
        connect(attempts[place].take(), at: now)
        dropAttempts()
        if !isDirect { memory.succeeded(candidates[connectedCandidate]) }
        let mayRead = event.readable || event.hungUp
        if isDirect || inAbsoluteForm { return opened(leftover: 0..<0, mayRead: mayRead) }
        return ask(readingAfterwards: mayRead, buffers: &buffers, memory: &memory, now: now)
    }

    /// Ends attempts whose time is over, and starts the next one when its time has come.
    mutating func attemptsAreDue(memory: inout UpstreamMemory, now: Instant) -> DialProgress {
        var isShort = now >= nextAttemptTime
        for place in 0..<Self.maximumAttempts where attemptDeadlines[place] <= now {
            lastError = .timedOut
            drop(place)
            isShort = true
        }
        return isShort ? startAttempt(memory: &memory, now: now) : .waiting
    }

    /// Makes an attempt the connection.
    private mutating func connect(_ attempt: consuming Attempt?, at now: Instant) {
        guard let attempt else { return }
        if connectedAt == nil { connectedAt = now }
        connectedSlot = attempt.slot
        connectedCandidate = attempt.candidate
        connection = attempt.giveSocket()
    }

    mutating func failToConnect(memory: inout UpstreamMemory) -> DialProgress {
        if isDirect { return fail(.targetUnreachable(lastError)) }
        memory.failed()
        return fail(.proxyUnreachable(lastError))
    }

    /// Connects to the same machine once more, for another request.
    mutating func reconnect(memory: inout UpstreamMemory, now: Instant) -> DialProgress {
        nextCandidate = connectedCandidate
        disconnect()
        dialogue = .none
        unsent = []
        pageDeadline = .never
        isReused = false
        isWatchedForReading = false
        return startAttempt(memory: &memory, now: now)
    }

    /// Closes the connection, if there is one.
    mutating func disconnect() {
        connection = nil
        connectedSlot = nil
    }

    mutating func dropAttempts() {
        for place in 0..<Self.maximumAttempts { drop(place) }
        nextAttemptTime = .never
    }

    private mutating func drop(_ place: Int) {
        attempts[place] = nil
        attemptDeadlines[place] = .never
    }

    private var freePlace: Int? {
        for place in 0..<Self.maximumAttempts where attemptDeadlines[place] == .never { return place }
        return nil
    }

    private var hasAttempts: Bool {
        for place in 0..<Self.maximumAttempts where attemptDeadlines[place] != .never { return true }
        return false
    }
}

extension Attempt {
    consuming func giveSocket() -> Socket { socket }
}
