/// How hard a symbol is to read: the four rules by which masks are compared (section 7.8.3, table 11).

enum Penalty {
    /// All points of a finished symbol; fewer are better.
    static func points(_ modules: ModuleGrid) -> Int {
        let turned = modules.transposed
        var points = 0
        var dark = 0
        var above: [Bool] = []
        for index in 0..<modules.size {
            let row = modules.row(index)
            points += line(row) + line(turned.row(index)) + blocks(above, row)
            for isDark in row where isDark { dark += 1 }
            above = row
        }
        return points + balance(dark: dark, of: modules.size * modules.size)
    }

    /// Rule 2: three points for each two by two modules of one colour, in two rows.
    private static func blocks(_ above: [Bool], _ row: [Bool]) -> Int {
        guard !above.isEmpty else { return 0 }
        var points = 0
        for column in 1..<row.count {
            let dark = row[column]
            if row[column - 1] == dark, above[column] == dark, above[column - 1] == dark { points += 3 }
        }
        return points
    }

    /// Rule 4: ten points for each 5 % that the dark modules are away from a half.
    private static func balance(dark: Int, of total: Int) -> Int {
        abs(dark * 20 - total * 10) / total * 10
    }

    /// Rules 1 and 3 along one row or column.
    ///
    /// Rule 1: three points for five modules of one colour in a row, and one for each more. Rule 3: forty points where
    /// dark and light follow as 1 : 1 : 3 : 1 : 1, like a finder, with four times as much light on a side; the quiet
    /// zone is light, and counts.
    static func line(_ modules: [Bool]) -> Int {
        var points = 0
        // The lengths of light and dark in turn, light first and light last.
        var runs = [QRCode.quietZone]
        var isDark = false
        var length = 0
        for dark in modules {
            if dark == isDark {
                length += 1
                if length == 5 { points += 3 } else if length > 5 { points += 1 }
            } else {
                if isDark || runs.count > 1 { runs.append(length) } else { runs[0] += length }
                (isDark, length) = (dark, 1)
            }
        }
        if isDark {
            runs += [length, QRCode.quietZone]
        } else {
            runs.append(length + QRCode.quietZone)
        }
        return points + finders(runs)
    }

    private static func finders(_ runs: [Int]) -> Int {
        var points = 0
        for first in stride(from: 1, to: runs.count - 5, by: 2) {
            let unit = runs[first]
            guard runs[first + 1] == unit, runs[first + 2] == 3 * unit, runs[first + 3] == unit,
                runs[first + 4] == unit
            else { continue }
            if max(runs[first - 1], runs[first + 5]) >= 4 * unit { points += 40 }
        }
        return points
    }
}
