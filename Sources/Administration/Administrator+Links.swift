/// Links: built for whoever prints codes, and carried out for whoever scans one.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles

extension Administrator {
    // MARK: Building

    func makeLink(_ wish: ControlCall.LinkWish) throws(ControlError) -> ControlAnswer {
        var form = Link.Form.starship
        if let page = wish.page {
            guard Link.isGateway(page) else {
                throw ControlError(
                    .badRequest, "page: found no host; expected the name or the address of the gateway", path: "page")
            }
            form = .page(gateway: page)
        }
        switch wish.content {
        case .profile(let id):
            try checkProfile(id)
            guard let profile = plan.effective.configuration.profile(id), profile.isSelfService else {
                throw ControlError(
                    .conflict, "profile: \(id) is not for everybody; expected one with selfService: true",
                    path: "profile")
            }
            return ControlAnswer(.members(["link": .string(Link(profile: id, form: form).text)]))
        case .proxy(let proxy):
            return ControlAnswer(.members(["link": .string(try signed(proxy, form).text)]))
        }
    }

    private func signed(_ wish: ControlCall.LinkWish.Proxy, _ form: Link.Form) throws(ControlError) -> Link {
        guard let key = keys.keys.first(where: { $0.id == wish.key && !$0.isRevoked }) else {
            let ids = keys.keys.filter { !$0.isRevoked }.map(\.id)
            throw ControlError(
                .notFound, "key: there is no such key; expected one of \(ids.joined(separator: ", "))", path: "key")
        }
        guard let server = Profiles.Upstream.Server(host: wish.host, port: wish.port) else {
            throw ControlError(.badRequest, "host: expected the name or the address of the proxy, alone", path: "host")
        }
        let proxy = LinkedProxy(
            name: wish.name, type: wish.type == "socks5" ? .socks5 : .http, server: server, domains: wish.domains)
        var random = SystemRandom()
        let grant = LinkGrant(
            key: key.id, expires: clock.now.seconds + wish.duration.nanoseconds / 1_000_000_000,
            gateway: wish.isForThisGateway ? keys.gateway : nil,
            once: wish.isForOnce ? String(random.next() as UInt64, radix: 36) : nil)
        do throws(LinkError) {
            return try Link(proxy: proxy, grant: grant, key: key, form: form)
        } catch {
            throw ControlError(error, isForbidden: false)
        }
    }

    // MARK: Carrying out

    /// What a link comes to.
    struct Meaning {
        var profile: String
        /// A profile that the link brings along.
        var brought: Profile?
        var grant: LinkGrant?
        /// The password of a proxy's URL.
        var secret: Secret?
        var action = "activate"
    }

    mutating func apply(
        _ use: ControlCall.LinkUse, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        let meaning = try meaning(of: use.link)
        let json = json(meaning)
        guard let scope = use.scope, !use.isCheck else {
            return ControlAnswer(.members(["link": json]))
        }
        try keepSecret(meaning)
        var state = plan.lab
        lay(meaning, over: &state)
        let target = try assign(meaning.profile, scope, use.duration, by, &state)
        let note = LabStore.Note(by: by, how: "link", summary: "\(target.words) \(meaning.profile)")
        return try switchTo(state, note, use.manner, target, &gateway, link: json)
    }

    /// Writes into a state what a link brings along, and that it was used.
    func lay(_ meaning: Meaning, over state: inout LabState) {
        if let brought = meaning.brought {
            state.profiles.removeAll { $0.id == brought.id }
            state.profiles.append(brought)
        }
        if let grant = meaning.grant, let once = grant.once {
            let now = clock.now.seconds
            state.spent.removeAll { $0.expires + LinkVerifier.leeway < now }
            state.spent.append(LabState.SpentNonce(key: grant.key, once: once, expires: grant.expires))
        }
    }

    private func meaning(of text: String) throws(ControlError) -> Meaning {
        let url: ConfigURL
        do throws(ConfigURLError) {
            url = try ConfigURL.parse(text, from: .control)
        } catch {
            throw ControlError(error)
        }
        switch url {
        case .link(let link): return try meaning(of: link)
        case .proxy(let url):
            let name = url.name ?? url.upstream.server?.description ?? "proxy"
            var profile = Profile(id: id(for: name), name: name, upstream: url.upstream)
            var meaning = Meaning(profile: profile.id)
            if let credentials = url.upstream.credentials, case .given(let secret) = credentials.password {
                meaning.secret = secret
                profile.upstream.credentials = CredentialSource(user: credentials.user, password: .file(profile.id))
            }
            meaning.brought = profile
            return meaning
        }
    }

    /// What a link comes to, if it may do here and now what it says.
    func meaning(of link: Link) throws(ControlError) -> Meaning {
        let verifier = keys.verifier(profiles: plan.effective.configuration.profiles, spent: plan.lab.spent)
        let request: Link.Request
        do throws(LinkError) {
            request = try verifier.check(link, at: clock)
        } catch {
            throw ControlError(error, isForbidden: true)
        }
        switch request {
        case .profile(let id): return Meaning(profile: id)
        case .proxy(let proxy, let grant):
            let id = id(for: proxy.name)
            return Meaning(profile: id, brought: proxy.profile(id: id), grant: grant)
        }
    }

    /// The id of a profile that comes by a link: always the same for the same name, and never one of the file's.
    private func id(for name: String) -> String {
        var id = "link-"
        for scalar in name.unicodeScalars.prefix(48) {
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            let next = isPlain ? String(scalar).lowercased() : "-"
            if next != "-" || !id.hasSuffix("-") { id += next }
        }
        while id.hasSuffix("-") { id.removeLast() }
        while plan.file.profile(id) != nil { id += "-2" }
        return id
    }

    private func json(_ meaning: Meaning) -> JSON {
        let profile = meaning.brought ?? plan.effective.configuration.profile(meaning.profile)
        return .members([
            "action": .string(meaning.action), "profile": .string(meaning.profile),
            "name": .string(profile?.name ?? meaning.profile), "upstream": .string(profile?.upstream.words ?? "-"),
            "domains": .strings(profile?.routes.domains.map(\.text) ?? []),
            "key": (meaning.grant?.key).map(JSON.string),
            "expires": (meaning.grant?.expires).map { .integer(Int($0)) },
            "isNew": .boolean(meaning.brought.map { plan.effective.configuration.profile($0.id) == nil } ?? false),
        ])
    }

    /// Puts the password of a proxy's URL into a file that only this program reads.
    private func keepSecret(_ meaning: Meaning) throws(ControlError) {
        guard let secret = meaning.secret else { return }
        guard let directory = running.state else {
            throw ControlError(
                .conflict, "the URL has a password, and with state: false there is no place to keep it in")
        }
        do throws(SystemCallError) {
            let folder = try Folder("\(directory)/secrets")
            let file = try folder.create(meaning.profile + ".new")
            try file.write(Array(secret.revealed.utf8).span)
            try file.sync()
            try folder.rename(meaning.profile + ".new", to: meaning.profile)
            try folder.sync()
        } catch {
            throw ControlError(.storeFailed, "the password was not kept: \(error)")
        }
    }
}

extension ControlError {
    /// What a text is, if it is no link that this gateway understands.
    init(_ error: ConfigURLError) {
        switch error {
        case .link(let error): self.init(error, isForbidden: false)
        default: self.init(.badRequest, "\(error)", path: "link")
        }
    }
}
