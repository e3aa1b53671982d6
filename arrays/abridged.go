package arrays

import "github.com/gohalo/halo/hlo"

// The sizes of NumPy: an array of more elements than this is abridged, to so many at each end of each dimension.
const (
	abridgedFrom = 1000
	edge         = 3
)

// AppendAbridged appends an array as [hlo.Literal.AppendText] does, but of a large one only the first and last elements of each dimension.
func AppendAbridged(b []byte, l *hlo.Literal) []byte {
	s := l.Shape()
	if !s.IsArray() || l.IsElided() || s.NumElements() <= abridgedFrom || s.Rank() == 0 {
		return l.AppendText(b)
	}
	return appendLevel(b, l, 0, 0, s.NumElements())
}

// appendLevel appends what is below one index of the dimensions before axis: so many elements, from at.
func appendLevel(b []byte, l *hlo.Literal, axis int, at, elements int64) []byte {
	s := l.Shape()
	if axis == s.Rank() {
		w := int64(s.Type().ByteSize())
		one, err := hlo.NewLiteral(hlo.MakeShape(s.Type()), l.Bytes()[at*w:(at+1)*w])
		if err != nil {
			return append(b, '?')
		}
		return one.AppendText(b)
	}
	n := s.Dim(axis)
	below := elements / n
	b = append(b, '{')
	for i := int64(0); i < n; i++ {
		if i > 0 {
			b = append(b, ", "...)
		}
		if n > 2*edge && i == edge {
			b = append(b, "..., "...)
			i = n - edge
		}
		b = appendLevel(b, l, axis+1, at+i*below, below)
	}
	return append(b, '}')
}
