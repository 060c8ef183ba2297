/// Short answers of our own to HTTP clients.

/// A final answer with a line of text; the connection ends after it.
public enum HTTPAnswer {
    /// What opens a tunnel (RFC 9110, section 9.3.6).
    public static func writeTunnelOpen(into output: inout [UInt8]) {
        output.append(contentsOf: "HTTP/1.1 200 Connection established\r\n\r\n".utf8)
    }

    /// Appends an answer; a 407 asks for Basic credentials (RFC 7617), a 405 names the methods that are served.
    public static func write(status: Int, text: String, into output: inout [UInt8]) {
        let body = text.isEmpty ? "" : "\(text)\n"
        var head = "HTTP/1.1 \(status) \(HTTPStatus.reason(status))\r\n"
        if status == 407 { head += "Proxy-Authenticate: Basic realm=\"starship\", charset=\"UTF-8\"\r\n" }
        if status == 405 { head += "Allow: CONNECT, GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH\r\n" }
        head += "Content-Type: text/plain; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n"
        output.append(contentsOf: (head + "Connection: close\r\n\r\n" + body).utf8)
    }
}
