package hlo

import "strings"

// NameRoom makes many names in few pieces of memory, for who makes names for many instructions. A piece lives as long as one of its names. The zero
// NameRoom is ready.
type NameRoom struct{ piece strings.Builder }

// Join is a + b.
func (r *NameRoom) Join(a, b string) string {
	const most = 1 << 10 // pieces begin small, and double
	if n := len(a) + len(b); r.piece.Cap()-r.piece.Len() < n {
		size := max(n, min(2*r.piece.Cap(), most))
		r.piece = strings.Builder{}
		r.piece.Grow(size)
	}
	from := r.piece.Len()
	r.piece.WriteString(a)
	r.piece.WriteString(b)
	return r.piece.String()[from:]
}
