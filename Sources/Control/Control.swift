/// # Control: how the gateway is spoken to
///
/// HTTP/1.1 with JSON, over a Unix socket whose peers the kernel names, and over TCP for those who sign what they ask.
/// A request becomes a value before anybody acts on it; an answer is a value until it is written.
///
///     bytes ── ControlSession ──▶ ControlRequest ── ControlCall.read ──▶ ControlCall ──▶ (Administration)
///     bytes ◀── ControlSession ── ControlAnswer ◀── JSON, or a ControlError ◀── (Administration)
///     ControlServer: the listeners, and one session for each connection
///     ServerPoller: what ControlServer and PageServer wait for, their doors and their clients
///     ControlEvent ── EventRing ──▶ the sessions whose answer is a stream
///     ControlClient: the other end, for `starshipctl`
///     PageServer, PageSession ── PageVisit ──▶ (Administration) ── PageAnswer ──▶ browsers of the LAN
///     MetricsPage ── text ──▶ Prometheus's text format
///
/// What is asked is read strictly: an unknown path, parameter, key or method is refused by an error that says what
/// there is instead.
