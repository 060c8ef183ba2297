/// Any bytes as a DHCP server's lease file: what is read makes sense, whoever wrote it, and a table takes it.

import Addresses
import Devices

func fuzzLeaseFile(_ bytes: [UInt8]) {
    let file = LeaseFile.parse(bytes.span)
    precondition(file.leases.count <= LeaseFile.leaseLimit && file.skipped <= bytes.count, "more than there can be")
    var former: IPAddress?
    for lease in file.leases {
        precondition(!lease.mac.isGroup && !lease.address.isMulticast && !lease.address.isLoopback, "no device's")
        precondition(lease.address != former, "an address twice")
        former = lease.address
        if let hostName = lease.hostName {
            precondition((1...255).contains(hostName.utf8.count), "a name of no length")
            precondition(hostName.utf8.allSatisfy { 0x20...0x7e ~= $0 }, "a name that is no line")
            if let name = DeviceName.suggested(by: hostName) {
                precondition(DeviceIdentity(parsing: name) == nil && name.utf8.count <= 64, "a name that is none")
            }
        }
    }
    var table = DeviceTable()
    table.setLeases(file.leases, at: 1_790_000_000)
    for (address, _) in table.addressBook { precondition(!address.isMulticast) }
    do throws(DeviceError) {
        _ = try table.find(String(decoding: bytes, as: UTF8.self))
    } catch {
        let text = "\(error)"
        precondition(!text.isEmpty && text.utf8.count < 1000 && !text.utf8.contains(0x0a), "a refusal that is no line")
    }
}
