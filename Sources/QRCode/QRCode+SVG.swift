/// A symbol as a drawing of any size: one path in an SVG document.

extension QRCode {
    /// The dark modules as the data of one path, a module being one unit, without the quiet zone.
    ///
    /// For those who draw the symbol into a drawing of their own; the quiet zone is theirs to keep.
    public var path: String {
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                let start = column
                while column < size, self[row, column] { column += 1 }
                if column > start { path += "M\(start) \(row)h\(column - start)v1h-\(column - start)z" }
                column += 1
            }
        }
        return path
    }

    /// A document with the symbol in black on white, its quiet zone around it.
    ///
    /// - Parameter module: The side of a module in pixels, at least 1; a drawing can be scaled anyway.
    /// - Returns: The text of the document, with a line end at its end.
    public func svg(module: Int = 8) -> String {
        precondition(module >= 1, "a module without a size")
        let zone = Self.quietZone
        let side = size + 2 * zone
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(side * module)" height="\(side * module)" \
            viewBox="-\(zone) -\(zone) \(side) \(side)" shape-rendering="crispEdges">
            <rect x="-\(zone)" y="-\(zone)" width="\(side)" height="\(side)" fill="#fff"/>
            <path d="\(path)"/>
            </svg>

            """
    }
}
