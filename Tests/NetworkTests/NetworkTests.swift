import Testing

@Suite("Network")
enum NetworkTests {}
