CONNECT [::1]:443 HTTP/1.1
Proxy-Authorization: Basic dTpw

