/// What a scanned code does: asked once, and then done for the device that scanned it.

import Bytes
import Control
import Devices
import Gateway
import Page
import Profiles

extension Administrator {
    /// How many profiles links may bring: the store reads no more than twice as many.
    private static let roomForProfiles = 512

    /// Asks whether a device is to have what a link says.
    func confirm(_ query: String, _ caller: PageCaller, _ gateway: borrowing Gateway) -> PageAnswer {
        do throws(ControlError) {
            if let own = try ownOffer(query, caller, gateway) { return confirming(query, .offer(own), caller) }
            let meaning = try meaning(of: query, for: caller.device)
            guard let profile = meaning.brought ?? plan.effective.configuration.profile(meaning.profile) else {
                preconditionFailure("a link to a profile that is not there")
            }
            let lease = plan.resolved.configuration.lease.map { $0.nanoseconds / 1_000_000_000 }
            let offer = ConfirmView.Offer(profile: view(of: profile, gateway), signer: meaning.grant?.key, lease: lease)
            return confirming(query, .offer(offer), caller)
        } catch {
            return refusal(of: query, error.words, caller)
        }
    }

    /// Says why a link is not followed.
    func refusal(of query: String, _ words: String, _ caller: PageCaller) -> PageAnswer {
        confirming(query, .refused(words), caller)
    }

    private func confirming(_ query: String, _ outcome: ConfirmView.Outcome, _ caller: PageCaller) -> PageAnswer {
        ConfirmView(device: caller.view, current: nowWords(caller.device), query: query, outcome: outcome)
            .answer(in: caller.context)
    }

    mutating func activate(
        _ query: String, _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageNotice {
        // A laptop's code is none of the keys' links.
        if try takeOwnOffer(query, for: caller.device.identity, caller.by, &gateway) != nil { return .switched }
        try assign(try meaning(of: query, for: caller.device), caller, &gateway)
        return .switched
    }

    /// What the query of a link means for a device; its parameters are the same behind each head.
    private func meaning(of query: String, for device: Device) throws(ControlError) -> Meaning {
        let url: ConfigURL
        do throws(ConfigURLError) {
            url = try ConfigURL.parse("starship://activate?\(query)", from: .device)
        } catch {
            throw ControlError(error)
        }
        guard case .link(let link) = url else { throw ControlError(ConfigURLError.controlOnly) }
        var meaning = try meaning(of: link)
        guard var brought = meaning.brought else { return meaning }
        while isOthers(brought, besides: device) { brought.id += "-2" }
        (meaning.brought, meaning.profile) = (brought, brought.id)
        let isNew = !plan.lab.profiles.contains { $0.id == brought.id }
        guard !isNew || plan.lab.profiles.count < Self.roomForProfiles else {
            throw ControlError(
                .conflict, "found \(plan.lab.profiles.count) profiles that came by links; expected fewer",
                hint: "whoever looks after the gateway can delete some")
        }
        return meaning
    }

    /// Whether others have another profile under the id of one that a link brings: a device changes itself alone.
    private func isOthers(_ brought: Profile, besides device: Device) -> Bool {
        let configuration = plan.effective.configuration
        guard let there = configuration.profile(brought.id), there != brought else { return false }
        let isUsed = plan.effective.assignments.contains {
            $0.profile == brought.id && $0.device != device.assignment?.device
        }
        return isUsed || configuration.active == brought.id || !configuration.groups(with: brought.id).isEmpty
    }
}
