/// Three workers: whoever reads a packet, its flow gets it.

import Addresses
import Bytes
import LinuxIO
import TestSupport
import Testing
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Several workers")
    struct SeveralWorkers {
        /// Decision 2: the worker whose queue brought the SYN owns the flow and alone writes for it.
        @Test func aPacketAtAnotherQueueReachesItsFlow() throws {
            let bench = try Bench(workers: 3)
            let client = bench.client()
            let peer = try client.open()
            for (queue, text) in [(1, "one "), (2, "two "), (0, "three")] {
                client.queue = queue
                try client.send(text)
            }
            bench.until("everything arrives") { peer.text == "one two three" }
            #expect(bench.machines.map(\.flows) == [1, 0, 0])
            #expect(client.packets.allSatisfy { $0.queue == 0 }, "the owner alone writes")
            #expect(bench.counter(\.handedOver) == bench.counter(\.takenOver))
            #expect(bench.counter(\.handedOver) == 2)
            client.queue = 2
            try client.finish()
            peer.close()
            bench.until("the end arrives") { client.hasEnded }
            bench.expectNothingLeft()
        }

        @Test func aRepeatedSYNAtAnotherQueueOpensNoSecondFlow() throws {
            let bench = try Bench(workers: 3)
            let client = bench.client()
            try client.sendSYN()
            let peer = try bench.acceptTunnel()
            client.queue = 1
            try client.sendSYN()
            bench.settle()
            #expect(bench.nextPeer() == nil)
            #expect(bench.machines.map(\.flows) == [1, 0, 0])
            client.queue = 2
            try client.sendRaw([.reset, .acknowledge], sequence: SequenceNumber(1001))
            bench.until("the upstream is let go") { peer.isOver }
            bench.expectNothingLeft()
        }

        @Test func anErrorAboutAFlowReachesItsOwner() throws {
            let bench = try Bench(workers: 3)
            let client = bench.client()
            client.acknowledges = false
            let peer = try client.open()
            peer.send([UInt8](repeating: 1, count: 3000))
            bench.until("segments come") { client.sizes.reduce(0, +) == 3000 }
            let first = try #require(client.packets.first { $0.payload.count > 1000 })
            client.forget()
            try bench.inject(
                Datagram.tooBig(from: "198.51.100.10", to: "10.9.0.2", mtu: 1280, about: first.bytes), at: 1)
            bench.until("it is sent again") { client.sizes.contains(1240) }
            #expect(bench.machines[0].counters.icmpErrorsAccepted == 1)
            #expect(bench.machines[1].counters.icmpErrorsIgnored == 0)
            try client.reset()
            bench.expectNothingLeft()
        }

        @Test func flowsOfAllWorkersAreServedAndGivenBack() throws {
            let bench = try Bench(workers: 3, listeners: [.socks([])])
            let clients = (0..<9).map { bench.client(at: $0 % 3) }
            let peers = try clients.map { try $0.open() }
            #expect(bench.machines.map(\.flows) == [3, 3, 3])
            for (index, client) in clients.enumerated() { try client.send("flow \(index)") }
            for (index, peer) in peers.enumerated() {
                bench.until("its own bytes arrive") { peer.text == "flow \(index)" }
                peer.send("answer \(index)")
            }
            for (index, client) in clients.enumerated() {
                bench.until("its own answer arrives") { client.text == "answer \(index)" }
                try client.reset()
            }
            bench.expectNothingLeft()
        }

        /// A port that was used is used again wherever its SYN arrives, by the worker that remembers it.
        @Test func aFlowThatIsOverIsRememberedByItsWorker() throws {
            let bench = try Bench(workers: 3)
            let client = bench.client()
            let peer = try client.open()
            peer.reset()
            bench.until("the reset comes") { client.wasReset }
            bench.expectNothingLeft()
            let again = bench.client(port: client.address.port, at: 2)
            again.next = client.next + 50
            _ = try again.open()
            #expect(bench.machines.map(\.flows) == [1, 0, 0])
            #expect(bench.counter(\.timeWaitReused) == 1)
            try again.reset()
            bench.expectNothingLeft()
            bench.advance(.seconds(11))
            let later = bench.client(port: client.address.port, at: 1)
            _ = try later.open()
            #expect(bench.machines.map(\.flows) == [0, 1, 0], "later it is anybody's")
            try later.reset()
            bench.expectNothingLeft()
        }

        /// A late segment is answered as what it is, whichever queue brings it.
        @Test func aLateSegmentAtAnotherQueueIsAcknowledged() throws {
            let bench = try Bench(workers: 3)
            let client = bench.client()
            let peer = try client.open()
            peer.close()
            bench.until("the end arrives") { client.hasEnded }
            try client.finish()
            bench.expectNothingLeft()
            _ = client.takeSegments()
            client.queue = 2
            try client.sendRaw([.acknowledge, .fin], sequence: client.next - 1)
            let answer = try #require(client.takeSegments().first)
            #expect(answer.flags == .acknowledge)
            #expect(answer.acknowledgement == client.next)
        }

        /// Decision 2: budgets are split evenly, so that all workers together keep to the gateway's.
        @Test func boundsAreSharedEvenly() throws {
            let bench = try Bench(workers: 3) {
                $0.flows = 300
                $0.halfOpen = 30
                $0.halfOpenPerDevice = 6
                $0.bufferMemory = 30 * BufferPool.chunkSize
            }
            for machine in bench.machines {
                #expect(machine.flowLimit == 100)
                #expect(machine.chunkLimit == 10)
            }
            let clients = (0..<9).map { bench.client(at: $0 % 3) }
            for client in clients {
                try client.sendSYN()
                bench.settle()
            }
            #expect(bench.machines.map(\.halfOpen) == [2, 2, 2])
            #expect(bench.counter(\.halfOpenEvicted) == 3)
            for client in clients { try client.sendRaw(.reset, sequence: SequenceNumber(1001)) }
            while bench.nextPeer() != nil {}
            bench.expectNothingLeft()
        }

        @Test func aMailboxBoundsItsPacketsAndNothingElse() throws {
            let mailbox = try Mailbox()
            var accepted = 0
            for _ in 0..<1000 where mailbox.send(packet: [1], isChecksumTrusted: false) { accepted += 1 }
            #expect(accepted == 512)
            mailbox.send(.stop)
            #expect(mailbox.collect().count == 513)
            #expect(mailbox.collect().isEmpty)
            #expect(mailbox.send(packet: [1], isChecksumTrusted: false))
        }

        /// The loop itself, on its own thread.
        @Test func aWorkerRunsUntilItIsToldToStop() throws {
            let bench = try Bench { $0.logLevel = .error }
            let pair = try TunnelPair(hasVirtioHeader: false)
            let seed = WorkerSeed(
                index: 0, shared: bench.shared, queue: pair.gateway, poller: try Poller(),
                resolver: try NameResolver(wakeUp: bench.shared.mailboxes[0].bell))
            try seed.watch()
            let thread = try WorkerThread.start(name: "worker", owning: seed) { seed in
                var worker = Worker(seed)
                worker.run()
            }
            let packet = Datagram.ping(from: "10.9.0.2", to: "198.51.100.10", [1, 2, 3])
            let outcome = pair.device.write(packet.span)
            #expect(outcome == .written)
            var poller = try Poller()
            try poller.add(pair.device.descriptor.number, token: 0, events: .readable)
            var events = [PolledEvent.none]
            let answers = poller.wait(into: &events, until: Clock.now() + .seconds(20))
            #expect(answers == 1)
            let box = ReportBox(waking: try WakeUp())
            bench.shared.mailboxes[0].send(.report(box))
            bench.shared.mailboxes[0].send(.stop)
            thread.join()
            #expect(box.content.first?.counters.echoReplies == 1)
        }
    }
}
