// Upstreams
