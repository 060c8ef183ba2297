{ id: "rc", upstream: { type: "socks5", host: "10.9.0.77", port: 1080 }, bypass: ["10.0.0.0/8"], udp: "direct" }
