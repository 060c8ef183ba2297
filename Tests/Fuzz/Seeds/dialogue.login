HTTP/1.1 407 Wants
Proxy-Authenticate: Basic realm="a", Digest nonce=b
Content-Length: 5

hello