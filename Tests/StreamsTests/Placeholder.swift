// Streams
