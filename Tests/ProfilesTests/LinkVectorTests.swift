/// The vectors in Configs/links, by which other platforms check their signatures, against openssl and against us.

import Bytes
import Foundation
import Profiles
import TestSupport
import Testing

struct LinkVectors: Decodable {
    struct Key: Decodable {
        let id: String
        let hex: String
    }

    struct Signed: Decodable {
        let what: String
        let parameters: [String: String]
        let message: String
        let sig: String
        let link: String
        let same: [String]
    }

    struct ProfileLinks: Decodable {
        let id: String
        let links: [String]
    }

    struct Refused: Decodable {
        let link: String
        let error: String
    }

    let key: Key
    let gateway: String
    let now: Int64
    let profiles: [ProfileLinks]
    let signed: [Signed]
    let refused: [Refused]

    static func read() throws -> LinkVectors {
        try JSONDecoder().decode(LinkVectors.self, from: Data(example("links/vectors.json").utf8))
    }

    func verifier() throws -> LinkVerifier {
        LinkVerifier(
            keys: [try LinkKey(id: key.id, secret: hex(key.hex))], gateway: gateway, built: 1_700_000_000,
            profiles: Dictionary(uniqueKeysWithValues: profiles.map { ($0.id, true) }))
    }

    var clock: LinkVerifier.Clock { .init(now: UnixTime(seconds: now), isSynchronised: true) }
}

struct LinkVectorTests {
    @Test("openssl signs the messages of the vectors as they say")
    func openssl() throws {
        let vectors = try LinkVectors.read()
        let scratch = try Scratch()
        for vector in vectors.signed {
            let result = try Command.run(
                ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(vectors.key.hex)", "-binary"],
                in: scratch.directory, input: Array(vector.message.utf8))
            let signature = Data(result.output).base64EncodedString()
            let urlSafe = signature.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(urlSafe == vector.sig, "\(vector.what): \(result.errors)")
        }
    }

    @Test("the message of each vector is put together from its parameters, sorted, each on a line")
    func messages() throws {
        for vector in try LinkVectors.read().signed {
            let lines = vector.parameters.sorted { $0.key < $1.key }.map { name, value in
                "\(name)=\(value.replacing("%", with: "%25").replacing("\n", with: "%0A"))\n"
            }
            #expect(vector.message == "starship-link-v1\nactivate\n" + lines.joined(), "\(vector.what)")
            let link = try Link.parse(vector.link)
            #expect(link.signedMessage == Array(vector.message.utf8), "\(vector.what)")
            #expect(link.text == vector.link, "\(vector.what)")
        }
    }

    @Test("every vector and every other spelling of it is accepted, and means the same")
    func accepted() throws {
        let vectors = try LinkVectors.read()
        let verifier = try vectors.verifier()
        for vector in vectors.signed {
            let request = try verifier.check(Link.parse(vector.link), at: vectors.clock)
            guard case .proxy(let proxy, let grant) = request else {
                Issue.record("\(vector.what) is a profile")
                continue
            }
            #expect(String(proxy.server.port) == vector.parameters["port"] && grant.key == vectors.key.id)
            #expect(proxy.domains.joined(separator: ",") == vector.parameters["domains"] ?? "")
            #expect(proxy.name == vector.parameters["name"] ?? proxy.server.description)
            for spelling in vector.same {
                #expect(try verifier.check(Link.parse(spelling), at: vectors.clock) == request, "\(spelling)")
            }
        }
        for profile in vectors.profiles {
            for link in profile.links {
                #expect(try verifier.check(Link.parse(link), at: vectors.clock) == .profile(profile.id))
                #expect(try Link.parse(link).text == link)
            }
        }
    }

    @Test("every refused vector is refused for its reason")
    func refused() throws {
        let vectors = try LinkVectors.read()
        let verifier = try vectors.verifier()
        for vector in vectors.refused {
            let error = #expect(throws: LinkError.self) {
                try verifier.check(Link.parse(vector.link), at: vectors.clock)
            }
            #expect(error?.code.rawValue == vector.error, "\(vector.link): \(error?.description ?? "accepted")")
        }
    }
}
