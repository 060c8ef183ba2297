/// Watching: on a terminal a screen with keys, elsewhere a line for each change.

import Bytes
import Commands
import Control
import LinuxIO
import Profiles

extension Program {
    func watch() throws(Failure) -> Int32 {
        // Without a daemon there is nothing to watch; later it may come and go.
        _ = try reply(to: .status)
        do throws(SystemCallError) {
            // What a screen shows has no colours of its own: `Screen` paints it.
            let plain = Style(isColoured: false)
            guard !invocation.isJSON, Terminal.isTerminal(.input), Terminal.isTerminal(.output) else {
                var watcher = try Watcher(client, asking: [.status, .profiles], plain)
                return writeLines(&watcher)
            }
            var watcher = try Watcher(client, asking: WatchQuestion.allCases, plain)
            return try showScreen(&watcher)
        } catch {
            throw Failure("\(error)")
        }
    }

    // MARK: Lines

    /// Writes until nobody reads any more, or a signal ends the program.
    private func writeLines(_ watcher: inout Watcher) -> Int32 {
        var state = WatchState(currentMoment)
        while true {
            let heard = watcher.hear(until: .never, currentMoment)
            state.tick(currentMoment)
            for news in heard {
                if invocation.isJSON, case .event(let event, _) = news {
                    let name = JSON.string(event.name).text
                    guard Terminal.write("{\"event\":\(name),\"data\":\(event.data)}\n") else { return ExitCode.done }
                }
                take(news, into: &state)
            }
            let text = state.takeNews(asJSON: invocation.isJSON)
            guard text.isEmpty || Terminal.write(text) else { return ExitCode.done }
        }
    }

    private func take(_ news: Watcher.News, into state: inout WatchState) {
        switch news {
        case .answer(let answer, let question): state.take(answer, to: question)
        case .event(let event, let data): state.take(event: event.name, data)
        case .done(let rendered): state.finish(rendered.text + rendered.warnings.joined(separator: "\n"), isGood: true)
        case .failed(let words): state.finish(words, isGood: false)
        case .lost(let error): state.lose(error.words)
        case .terminal: break
        }
    }

    // MARK: The screen

    /// How long a lone Escape waits for the rest of a sequence.
    private static let escapeTime = Interval.milliseconds(50)

    private func showScreen(_ watcher: inout Watcher) throws(SystemCallError) -> Int32 {
        let terminal = try FullScreen.open()
        try watcher.watch(terminal.descriptor)
        try watcher.watch(Terminal.Stream.input.rawValue)
        var view = WatchView(state: WatchState(currentMoment))
        var keys = KeyReader()
        while true {
            draw(&view, terminal)
            // Ages are told in seconds, so the screen changes each second.
            let time = keys.isPending ? Self.escapeTime : .seconds(1)
            let heard = watcher.hear(until: Clock.now() + time, currentMoment)
            view.state.tick(currentMoment)
            var pressed = heard.isEmpty ? keys.finish() : []
            for news in heard {
                take(news, into: &view.state)
                guard case .terminal = news else { continue }
                guard try heed(terminal, &view) else { return ExitCode.done }
                guard Terminal.hasInput else { continue }
                guard let octets = Terminal.read() else { return ExitCode.done }
                pressed += keys.take(octets)
            }
            for key in pressed {
                guard let wish = view.state.press(key) else { continue }
                guard try carryOut(wish, &watcher, &view, terminal) else { return ExitCode.done }
            }
        }
    }

    private func draw(_ view: inout WatchView, _ terminal: borrowing FullScreen) {
        let size = terminal.size
        let screen = view.state.screen(columns: size.columns, rows: size.rows)
        let update = screen.update(from: view.shown, style)
        if !update.isEmpty { Terminal.write(update) }
        view.shown = screen
    }

    /// Takes the terminal's notices; false when it is the end.
    private func heed(_ terminal: borrowing FullScreen, _ view: inout WatchView) throws(SystemCallError) -> Bool {
        while let notice = terminal.notice() {
            switch notice {
            case .end: return false
            case .resized: view.shown = nil
            case .continued:
                try terminal.take()
                view.shown = nil
            }
        }
        return true
    }

    /// Does what a key asks for; false when it is the end.
    private func carryOut(
        _ wish: WatchWish, _ watcher: inout Watcher, _ view: inout WatchView, _ terminal: borrowing FullScreen
    ) throws(SystemCallError) -> Bool {
        switch wish {
        case .quit: return false
        case .suspend:
            try terminal.stop()
            view.shown = nil
        case .redraw: view.shown = nil
        case .ask(let request, let answer):
            if let trouble = watcher.ask(request, answer) { view.state.finish(trouble, isGood: false) }
        }
        return true
    }
}

/// The state, and the screen that the terminal shows of it.
private struct WatchView {
    var state: WatchState
    var shown: Screen?
}
