package hlo

// Hash is a structural hash.
type Hash struct{ Hi, Lo uint64 }

// Digest is a digest of the exact content.
type Digest struct{ Hi, Lo uint64 }
