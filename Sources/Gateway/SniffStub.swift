import Bytes
extension Worker { mutating func beginSniffing(_ handle: Handle, _ destination: Destination) {} }
