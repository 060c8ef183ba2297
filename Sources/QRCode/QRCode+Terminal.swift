/// A symbol in the terminal: two modules a character, by half blocks.

extension QRCode {
    /// What is known of the terminal.
    public enum TerminalStyle: Equatable, Sendable {
        /// Black on white by colour sequences (SGR), whatever the terminal's own colours are.
        case coloured
        /// Characters alone, for a terminal, a file or a log without colours; right on this background alone.
        case plain(on: Background)

        /// What the terminal's text stands on.
        public enum Background: String, CaseIterable, Sendable {
            case dark
            case light
        }
    }

    /// Draws the symbol with its quiet zone.
    ///
    /// The plain form has one line more, the last: it says for which background it is, because on the other one most
    /// readers see nothing. A line takes `size` + 8 columns and ends with a line feed.
    public func terminal(_ style: TerminalStyle) -> String {
        let zone = Self.quietZone
        var text = ""
        for row in stride(from: -zone, to: size + zone, by: 2) {
            // Black and white of the 256 colours: the sixteen first ones are the user's to change.
            if style == .coloured { text += "\u{1b}[38;5;16;48;5;231m" }
            for column in -zone..<size + zone {
                text += style.character(upper: self[row, column], lower: self[row + 1, column])
            }
            text += style == .coloured ? "\u{1b}[0m\n" : "\n"
        }
        guard case .plain(let background) = style else { return text }
        return text + "(drawn for a \(background.rawValue) background)\n"
    }
}

extension QRCode.TerminalStyle {
    /// The character that shows two modules, one above the other.
    fileprivate func character(upper: Bool, lower: Bool) -> String {
        // What the terminal's text colour has to paint: dark modules, or on a dark background the light ones.
        let paintsDark = self != .plain(on: .dark)
        return switch (upper == paintsDark, lower == paintsDark) {
        case (true, true): "\u{2588}"
        case (true, false): "\u{2580}"
        case (false, true): "\u{2584}"
        case (false, false): " "
        }
    }
}
