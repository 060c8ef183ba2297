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
        var head = "HTTP/1.1 \(status) \(reason(status))\r\n"
        if status == 407 { head += "Proxy-Authenticate: Basic realm=\"starship\", charset=\"UTF-8\"\r\n" }
        if status == 405 { head += "Allow: CONNECT, GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH\r\n" }
        head += "Content-Type: text/plain; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n"
        output.append(contentsOf: (head + "Connection: close\r\n\r\n" + body).utf8)
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 405: "Method Not Allowed"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 421: "Misdirected Request"
        case 431: "Request Header Fields Too Large"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: "Error"
        }
    }
}
