/// Reed-Solomon codes over the 256 numbers of one octet (section 7.5.2, annex A).

/// Arithmetic modulo x⁸ + x⁴ + x³ + x² + 1, in which 2 generates all numbers but zero.
enum GaloisField {
    /// Powers of 2, twice around, so that a sum of two logarithms needs no division.
    static let powers: [UInt8] = {
        var powers: [UInt8] = [1]
        while powers.count < 510 {
            let last = powers[powers.count - 1]
            powers.append(last << 1 ^ (last & 0x80 == 0 ? 0 : 0x1d))
        }
        return powers
    }()

    static let logarithms: [Int] = {
        var logarithms = [Int](repeating: 0, count: 256)
        for exponent in 0..<255 { logarithms[Int(powers[exponent])] = exponent }
        return logarithms
    }()

    static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        guard left != 0, right != 0 else { return 0 }
        return powers[logarithms[Int(left)] + logarithms[Int(right)]]
    }
}

/// The code that adds a number of octets to each block.
struct ReedSolomon {
    /// The coefficients of (x − 2⁰)(x − 2¹)…, highest power first, without the leading 1.
    let generator: [UInt8]

    init(degree: Int) {
        var product: [UInt8] = [1]
        for exponent in 0..<degree {
            let root = GaloisField.powers[exponent]
            var next = product + [0]
            for index in product.indices { next[index + 1] ^= GaloisField.product(product[index], root) }
            product = next
        }
        generator = Array(product.dropFirst())
    }

    /// The octets to put behind the data: the remainder of its division by the generator.
    func correction(of data: ArraySlice<UInt8>) -> [UInt8] {
        var remainder = [UInt8](repeating: 0, count: generator.count)
        for octet in data {
            let factor = octet ^ remainder[0]
            remainder.removeFirst()
            remainder.append(0)
            for index in generator.indices { remainder[index] ^= GaloisField.product(generator[index], factor) }
        }
        return remainder
    }
}
