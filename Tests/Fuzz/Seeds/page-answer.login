b`|HTTP/1.1 407 Proxy Authentication Required
Proxy-Authenticate: NTLM
Proxy-Authenticate: Basic realm="a, b"
Content-Length: 0

