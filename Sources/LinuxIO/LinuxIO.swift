/// # LinuxIO: the kernel's side of the gateway
///
/// Each type owns what it opened and closes it when it goes away. A system call is retried when a signal
/// interrupted it. What is normal in its place (nothing ready, end of stream, no descriptor left, a peer
/// that reset) is an outcome to switch over; a `SystemCallError` is thrown where something cannot be set up
/// at all.
///
///     TunnelDevice, TunnelQueue   packets of the TUN device     one read or write, one packet of up to 64 KiB
///     Socket                      streams to and from peers     always non-blocking
///     DatagramSocket              datagrams, one a call         always non-blocking
///     Poller                      which of them is ready        64-bit tokens, deadlines in nanoseconds
///     WakeUp, Signals             other threads, the operator   descriptors for the same poller
///     KernelNetwork               interfaces, addresses, routes, rules, neighbours, as one value
///     NetworkMonitor              says when that is worth reading again
///     Tool, Sysctl, SmallFile     what is changed through ip(8), nft(8), /proc/sys and files
///     WorkerThread, NameResolver  threads of our own
///     Clock, SystemRandom         what the modules below take as arguments
///
/// Calls on the way of a packet allocate nothing.
