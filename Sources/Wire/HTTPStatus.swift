/// What the numbers of answers mean.

/// Reason phrases (RFC 9110, section 15; RFC 6585, sections 4 and 5).
public enum HTTPStatus {
    /// The phrase behind a status; `Error` for one that nothing here answers with.
    public static func reason(_ status: Int) -> String {
        switch status {
        case 200..<400: success(status)
        case 400..<500: refusal(status)
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: "Error"
        }
    }

    private static func success(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 303: "See Other"
        default: "Error"
        }
    }

    private static func refusal(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        default: "Error"
        }
    }
}
