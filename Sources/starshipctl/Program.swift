/// What each command does with the world: files, the terminal, the daemon.

import Bytes
import Commands
import Control
import LinuxIO
import Profiles

/// One run of the program.
struct Program {
    let invocation: Invocation
    let client: ControlClient
    let style: Style
    let moment: Moment

    /// Carries the arguments out and returns the exit code.
    static func run(_ arguments: [String]) -> Int32 {
        let invocation: Invocation
        do throws(ArgumentError) {
            invocation = try CommandTable.parse(arguments)
        } catch {
            Terminal.write("starshipctl\(error.command.isEmpty ? ":" : "") \(error)\n", to: .errors)
            return ExitCode.usage
        }
        let program = Program(invocation)
        do throws(Failure) {
            return try program.carryOut()
        } catch {
            program.complain(error.message)
            return error.exitCode
        }
    }

    private init(_ invocation: Invocation) {
        self.invocation = invocation
        let socket =
            invocation.socket ?? Terminal.variable(Invocation.socketVariable) ?? Invocation.defaultSocket
        client = ControlClient(socket: socket)
        style = Style(isColoured: Self.isColoured(invocation.colour, .output))
        let now = Clock.unixTime()
        moment = Moment(now: now.seconds, zone: Clock.zone(at: now))
    }

    /// Whether a stream gets colours; https://no-color.org says what NO_COLOR means.
    private static func isColoured(_ choice: Invocation.ColourChoice, _ stream: Terminal.Stream) -> Bool {
        switch choice {
        case .never: false
        case .always: true
        case .automatic:
            Terminal.isTerminal(stream) && Terminal.variable("NO_COLOR") == nil && Terminal.variable("TERM") != "dumb"
        }
    }

    private func carryOut() throws(Failure) -> Int32 {
        switch invocation.command {
        case .help(let text), .completion(let text): return print(text)
        case .version: return version()
        case .ask(let request, let answer): return try show(try ask(request), answer)
        case .confirm: return try confirm()
        case .push(let document, let confirm): return try push(document, confirm: confirm)
        case .apply(let application): return try apply(application)
        case .qr(let plan): return try draw(plan)
        case .sheet(let plan): return try drawSheet(plan)
        case .scan(let target): return scan(target)
        case .watch: return try watch()
        case .choosePage(let profile, let file): return try choosePage(profile, file)
        case .authority(let profile, let file): return try showAuthority(of: profile, file)
        case .leaving: return try showLeaving()
        case .schema: return print(ConfigurationSchema.text)
        case .keygen(let file): return try makeKey(file)
        case .lint(let order): return try lint(order)
        case .doctor(let order): return doctor(order)
        case .report(let order): return try report(order)
        case .candidates(let kind): return offer(kind)
        }
    }

    // MARK: Saying things

    /// Writes to standard output; nobody reading it any more is no failure.
    @discardableResult
    func print(_ text: String) -> Int32 {
        Terminal.write(text)
        return ExitCode.done
    }

    /// One line on standard error, with the command that it is about.
    func complain(_ message: String) {
        Terminal.write("starshipctl\(invocation.name.isEmpty ? "" : " " + invocation.name): \(message)\n", to: .errors)
    }

    // MARK: The daemon

    /// How long the daemon may take: a drain is 30 s at most.
    private static let patience = Interval.seconds(60)

    /// Asks, and returns what the daemon said, whatever it was.
    func reply(to request: APIRequest) throws(Failure) -> ControlReply {
        do throws(ControlClientError) {
            return try client.ask(request.method, request.target, body: request.body, within: Self.patience)
        } catch {
            throw Failure("\(error)", exitCode: error.isNoDaemon ? ExitCode.noDaemon : ExitCode.failed)
        }
    }

    /// Asks, and returns an answer that is no error; with `--json` an error is printed as it is, too.
    func ask(_ request: APIRequest, about place: String? = nil) throws(Failure) -> ControlReply {
        let reply = try reply(to: request)
        guard !reply.isSuccess else { return reply }
        if invocation.isJSON { printBody(reply) }
        let said = (try? value(of: reply)).flatMap { Found($0).error } ?? "found status \(reply.status); expected 200"
        throw Failure((place.map { "\($0): " } ?? "") + said)
    }

    /// The JSON of a reply.
    func value(of reply: ControlReply) throws(Failure) -> JSON5Value {
        do throws(ConfigurationError) {
            return try JSON5Reader.read(reply.body.span)
        } catch {
            throw Failure(
                error.code == .tooLarge
                    ? "found an answer too long to be shown; expected a shorter one (--json prints it as it is)"
                    : "\(client.socket): found no JSON in the answer (\(error)); is this starshipd's socket?")
        }
    }

    func found(_ request: APIRequest) throws(Failure) -> Found {
        Found(try value(of: try ask(request)))
    }

    private func printBody(_ reply: ControlReply) {
        Terminal.write(reply.body.last == 0x0a ? reply.body : reply.body + [0x0a])
    }

    /// Shows an answer, in words or as it is; the exit code is the same for both.
    func show(_ reply: ControlReply, _ answer: Answer) throws(Failure) -> Int32 {
        if invocation.isJSON {
            printBody(reply)
            return (try? value(of: reply)).map { answer.render($0, style, moment).exitCode } ?? ExitCode.done
        }
        let rendered = answer.render(try value(of: reply), style, moment)
        if rendered.text.isEmpty, answer == .document { printBody(reply) } else { print(rendered.text) }
        for warning in rendered.warnings { complain("warning: \(warning)") }
        return rendered.exitCode
    }
}

/// Why a command ends early: one line, and how.
struct Failure: Error {
    let message: String
    let exitCode: Int32

    init(_ message: String, exitCode: Int32 = ExitCode.failed) {
        self.message = message
        self.exitCode = exitCode
    }
}
