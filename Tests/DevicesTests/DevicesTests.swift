/// Values that the tests of devices share.

import Addresses
import Devices

/// Reads an address that a test has written out.
func address(_ text: String) -> IPAddress { IPAddress(parsing: text) ?? IPAddress(v4: 0) }

/// A MAC that ends with this octet; a drawn one has the bit for it.
func mac(_ last: UInt64, isDrawn: Bool = false) -> MACAddress {
    MACAddress(bits: (isDrawn ? 0x0200_0000_0000 : 0x3c28_6d00_0000) | last)
}

func on(_ interface: String?, _ last: UInt64, isDrawn: Bool = false) -> DeviceIdentity {
    .mac(mac(last, isDrawn: isDrawn), interface: interface)
}

func sighting(
    _ text: String, _ last: UInt64, on interface: String = "wlan0", at seen: Int64 = 1000, isDrawn: Bool = false,
    isRouter: Bool = false
) -> Sighting {
    Sighting(
        address: address(text), mac: mac(last, isDrawn: isDrawn), interface: interface, seen: seen, isRouter: isRouter)
}

func lease(_ text: String, _ last: UInt64, _ name: String?, until: Int64? = nil, isDrawn: Bool = false) -> DHCPLease {
    DHCPLease(address: address(text), mac: mac(last, isDrawn: isDrawn), hostName: name, expires: until)
}

func assignment(
    _ device: DeviceIdentity, _ profile: String = "qa", since: Int64 = 1000, until: Int64? = nil
) -> Assignment {
    Assignment(device: device, profile: profile, since: since, until: until, by: "root")
}
