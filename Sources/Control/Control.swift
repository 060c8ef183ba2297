/// # Control: how the gateway is spoken to
///
/// HTTP/1.1 with JSON over a Unix socket, both ends of it.
