package pages

// shared is the most memory, in bytes, that small arrays share: one that outlives the others keeps all of it.
const shared = 32 << 20

// Room is memory for arrays that are made one after the other and live about as long, such as the weights of a network. Those that are too small to
// have large pages of their own lie behind each other on common ones, and the collector frees what they share with the last of them. In the zero Room,
// which expects none, each has memory of its own. A Room is not safe for concurrent use.
type Room struct {
	rest []byte // of what small arrays share
	left int64  // bytes of small arrays to come
}

// Expect says that an array of n bytes is to come.
func (r *Room) Expect(n int64) {
	if n < leastLarge {
		r.left += whole(n)
	}
}

// Bytes returns n zeroed bytes that start at a multiple of [Line].
func (r *Room) Bytes(n int64) []byte {
	if n >= leastLarge || n == 0 {
		return Bytes(n, Line)
	}
	size := whole(n)
	if size > int64(len(r.rest)) {
		if r.left < leastLarge { // too few for large pages
			return Bytes(n, Line)
		}
		r.rest = Bytes(min(r.left, shared), Line)
	}
	r.left = max(0, r.left-size)
	b := r.rest[:n:n]
	r.rest = r.rest[size:]
	return b
}

// whole is n rounded up to lines.
func whole(n int64) int64 { return (n + Line - 1) &^ (Line - 1) }
