/// Super-packets with the segments that scapy 2.5 makes of them.

import TestSupport

extension Vectors {
    /// 10 octets at sequence 1000 with FIN and PSH, to be cut by 4.
    static let super4 = hex(
        """
        4500003e00104000400606620a090002c633640a9c4101bb000003e80000004d801901f6992d00000101080a0000000100000002
        30313233343536373839
        """)
    /// Its segments: identifications 16 to 18, FIN and PSH on the last alone.
    static let segments4 = [
        hex(
            """
            4500003800104000400606680a090002c633640a9c4101bb000003e80000004d801001f63be200000101080a000000010000
            000230313233
            """),
        hex(
            """
            4500003800114000400606670a090002c633640a9c4101bb000003ec0000004d801001f633d600000101080a000000010000
            000234353637
            """),
        hex(
            """
            4500003600124000400606680a090002c633640a9c4101bb000003f00000004d801901f665fe00000101080a000000010000
            00023839
            """),
    ]

    /// 8 octets at sequence 0xfffffffe with CWR and PSH, to be cut by 4.
    static let super6 = hex(
        """
        60000000001c0640fd00000900000000000000000000000220010db80051000000000000000000109c4101bbfffffffe0000004d
        509801f6171000003031323334353637
        """)
    /// Its segments: CWR on the first alone, PSH on the last alone, a sequence number that wraps.
    static let segments6 = [
        hex(
            """
            6000000000180640fd00000900000000000000000000000220010db80051000000000000000000109c4101bbfffffffe0000
            004d509001f68188000030313233
            """),
        hex(
            """
            6000000000180640fd00000900000000000000000000000220010db80051000000000000000000109c4101bb000000020000
            004d501801f679f5000034353637
            """),
    ]

    /// 6 octets of UDP, to be cut by 4.
    static let superUDP = hex("4500002200204000401106630a090002c633640a00010002000e34ed303132333435")
    /// Its datagrams.
    static let datagramsUDP = [
        hex(
            """
            4500002000204000401106650a090002c633640a00010002000c692630313233
            """),
        hex(
            """
            4500001e00214000401106660a090002c633640a00010002000a97593435
            """),
    ]
}
