// Digest
