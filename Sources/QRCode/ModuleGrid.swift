/// A square of dark and light modules.

struct ModuleGrid: Equatable, Sendable {
    let size: Int
    private var dark: [Bool]

    /// All light.
    init(size: Int) {
        self.size = size
        dark = [Bool](repeating: false, count: size * size)
    }

    func contains(_ row: Int, _ column: Int) -> Bool {
        row >= 0 && row < size && column >= 0 && column < size
    }

    subscript(row: Int, column: Int) -> Bool {
        get { dark[row * size + column] }
        set { dark[row * size + column] = newValue }
    }

    func row(_ index: Int) -> [Bool] { Array(dark[index * size..<(index + 1) * size]) }

    /// Rows and columns exchanged.
    var transposed: ModuleGrid {
        var turned = self
        for row in 0..<size {
            for column in 0..<size { turned.dark[column * size + row] = dark[row * size + column] }
        }
        return turned
    }
}
