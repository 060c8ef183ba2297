/// # Network: what the gateway does to the machine, and how it is undone
///
/// A plan says what is wanted. With what the kernel knows at the moment it becomes a script: rules, routes and
/// addresses, settings of the kernel, and one nftables text. The script is pure and compares as a value. It is
/// never run whole: the difference to what is there is computed, as lines of ip(8), each with its inverse. So a
/// start after a crash, a switch, the repair of what somebody flushed and the end are one and the same step.
///
///     NetworkPlan ──┐
///                   ├─▶ NetworkScript ── difference ──▶ sysctls, ip -batch, nft -f   (NetworkSetup)
///     KernelNetwork ┘                                   each undone when a later one fails
///
/// Everything of ours has well-known names (`NetworkNames`): whoever finds it can remove it, without knowing who
/// made it or when. Only settings of the kernel have owners before us; what they were stands in a small file
/// (`SavedState`) before the first one is changed.
///
/// The two ways of being asked for (`network.setup`):
///
///     gateway   devices on LAN interfaces   rules by the interface and the device, table "names" or "all"
///     host      this machine's own sockets  as above, after the mark of our own and of inbound connections
