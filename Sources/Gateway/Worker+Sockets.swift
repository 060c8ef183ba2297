/// The two lanes of a flow whose ends are both sockets.

import Bytes
import LinuxIO
import Relay
import Wire

extension Worker {
    /// The up lane of an inbound client.
    mutating func pumpSocketUp(_ handle: Handle) -> Bool {
        while !flows[handle].held.isEmpty, flows[handle].upstream.value.waiting.isEmpty {
            let runs = flows[handle].held.runs(from: 0, count: flows[handle].held.count, in: pool)
            let taken = flows[handle].upstream.value.send(runs, pool: pool)
            guard taken > 0 else { return false }
            flows[handle].held.removeFirst(taken, in: &pool)
            flows[handle].relay.progressed(at: now)
        }
        var budget = Self.readBudget
        while flows[handle].client.value.isReadable, flows[handle].upstream.value.waiting.count < Self.waitingLimit {
            guard budget > 0 else { return true }
            let runs = flows[handle].upstream.value.waiting.reserve(Self.readSize, in: &pool)
            guard runs.byteCount > 0 else { return starve(handle) }
            let outcome = flows[handle].client.value.read(into: runs, pool: &pool)
            let count = if case .bytes(let count) = outcome { count } else { 0 }
            flows[handle].upstream.value.waiting.commit(count, of: runs, in: &pool)
            noteClient(outcome, runs, of: handle)
            flows[handle].upstream.value.flush(pool: &pool)
            budget -= count
        }
        return false
    }

    /// The down lane of an inbound client.
    mutating func pumpDown(_ handle: Handle) -> Bool {
        if flows[handle].client.value.flush(pool: &pool) { flows[handle].relay.progressed(at: now) }
        var budget = Self.readBudget
        while flows[handle].upstream.value.isReadable, flows[handle].client.value.waiting.count < Self.waitingLimit {
            guard budget > 0 else { return true }
            let runs = flows[handle].client.value.waiting.reserve(Self.readSize, in: &pool)
            guard runs.byteCount > 0 else { return starve(handle) }
            let outcome = flows[handle].upstream.value.read(into: runs, pool: &pool)
            let count = if case .bytes(let count) = outcome { count } else { 0 }
            flows[handle].client.value.waiting.commit(count, of: runs, in: &pool)
            noteUpstream(outcome, runs, of: handle)
            flows[handle].client.value.flush(pool: &pool)
            budget -= count
        }
        return false
    }

    /// Takes note of what a read of an inbound client brought.
    mutating func noteClient(_ outcome: ReadOutcome, _ runs: ByteRuns, of handle: Handle) {
        switch outcome {
        case .bytes(let count):
            flows[handle].relay.moved(count, from: .client, at: now)
            guard flows[handle].tls.isWatching, runs.runCount > 0 else { return }
            var run = runs[0]
            run.count = min(run.count, count)
            pool.withBytes(run) { flows[handle].tls.client($0) }
        case .wouldBlock: break
        case .end:
            // The event may have told of a reset first; then the read finds an end that is none.
            if flows[handle].client.value.failure == nil { flows[handle].clientEnded(at: now) }
        case .failed: flows[handle].ends(flows[handle].tls.clientRefused ? .clientRefusedCertificate : .clientReset)
        }
    }
}
