/// Who asks, and who answers.

import Bytes
import Control
import Gateway
import LinuxIO
import Profiles

extension Administrator {
    /// Answers a request; nothing that it asks for is half done.
    mutating func answer(_ request: ControlRequest, _ gateway: inout Gateway) -> ControlAnswer {
        do throws(ControlError) {
            let asker = try admit(request)
            let answer = carryOut(request, asker, &gateway)
            if case .later(let promise) = answer.content { waiting[promise] = request }
            return seal(answer, to: request)
        } catch {
            return ControlAnswer(error)
        }
    }

    /// Whoever was admitted is also refused in our name.
    private mutating func carryOut(_ request: ControlRequest, _ by: String, _ gateway: inout Gateway) -> ControlAnswer {
        do throws(ControlError) {
            return try answer(request, by, &gateway)
        } catch {
            return ControlAnswer(error)
        }
    }

    private mutating func answer(
        _ request: ControlRequest, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        switch try ControlCall.read(request) {
        case .status: return status(&gateway)
        case .profiles: return profiles(&gateway)
        case .profile(let id): return try profile(id)
        case .authority(let id): return try authority(of: id, gateway)
        case .putProfile(let id, let confirm): return try put(id, request.body, confirm, by, &gateway)
        case .deleteProfile(let id, let moveTo): return try delete(id, moveTo, by, &gateway)
        case .activate(let activation): return try activate(activation, by, &gateway)
        case .release(let scope, let manner): return try release(scope, manner, by, &gateway)
        case .devices: return listDevices(&gateway)
        case .device(let text): return try device(text, &gateway)
        case .name(let device, let given): return try name(device, given, by, &gateway)
        case .requests(let device): return try requests(of: device, &gateway)
        case .putLists(let wish): return try putLists(wish, by, &gateway)
        case .learn(let device): return try learn(device, &gateway)
        case .learned(let device): return try learned(device, &gateway)
        case .configuration: return configuration()
        case .putConfiguration(let confirm): return try put(request.body, confirm, by, &gateway)
        case .reload: return try reload(by, &gateway)
        case .rollBack(let revision): return try rollBack(revision, by, &gateway)
        case .confirm(let revision): return try confirm(revision, by, &gateway)
        case .history: return history()
        case .differences: return differences()
        case .export: return export()
        case .makeLink(let wish): return try makeLink(wish)
        case .applyLink(let use): return try apply(use, by, &gateway)
        case .flows(let question): return try flows(question, &gateway)
        case .explain(let question): return try explain(question)
        case .why(let device, let host): return try why(device, host, &gateway)
        case .network: return network(gateway)
        case .startCapture(let wish): return try startCapture(wish, &gateway)
        case .stopCapture: return try stopCapture(&gateway)
        case .description: return try describe()
        case .events(let since):
            guard case .local = request.source else {
                throw ControlError(.forbidden, "found a wish for events from the network; a stream can't be signed")
            }
            return .stream(since: since)
        case .probe(let wish): return try probe(wish, &gateway)
        case .metrics: return metrics(&gateway)
        case .hear(let peer): return try hear(peer, request, &gateway)
        }
    }
}
