package fourier

// Put writes the elements of a transform, so many vectors each, to where they belong, so many parts of numbers apart. With back they become those of the inverse
// transform: from the second on they change their order, and all are divided by how many they are.
func (p *Plan[T]) Put(dst []T, apart int, y []T, vectors int, back bool) {
	row := 2 * p.lanes * vectors
	if !back {
		p.vectors.scale(p.n, vectors, apart, row, dst, y, p.one)
		return
	}
	p.vectors.scale(1, vectors, apart, row, dst, y, p.scale)
	if p.n > 1 {
		p.vectors.scale(p.n-1, vectors, apart, -row, dst[apart:], y[row:], p.scale)
	}
}

// PutMultiplied is Put of elements each number of which is multiplied by one of its own, which lie in the order in which they are written; nothing is divided.
func (p *Plan[T]) PutMultiplied(dst []T, apart int, y []T, vectors int, back bool, by []T) {
	row := 2 * p.lanes * vectors
	if !back {
		p.vectors.multiply(p.n, vectors, apart, row, dst, y, by)
		return
	}
	p.vectors.multiply(1, vectors, apart, row, dst, y, by)
	if p.n > 1 {
		p.vectors.multiply(p.n-1, vectors, apart, -row, dst[apart:], y[row:], by[row:])
	}
}

// eachRow calls body with n rows of so many numbers, as [vectors.scale] takes them.
func eachRow[T Float](n, row, to, from int, dst, src []T, body func(i int, dst, src []T)) {
	at := 0
	if from < 0 {
		at = (1 - n) * from
	}
	for i := range n {
		body(i, dst[i*to:][:row], src[at+i*from:][:row])
	}
}

// rowsInGo adds what assembly does with rows.
func (v vectors[T]) rowsInGo() vectors[T] {
	v.scale = func(n, each, to, from int, dst, src, by []T) {
		eachRow(n, 2*v.lanes*each, to, from, dst, src, func(_ int, dst, src []T) {
			for i, x := range src {
				dst[i] = x * by[0]
			}
		})
	}
	v.multiply = func(n, each, to, from int, dst, src, by []T) {
		row := 2 * v.lanes * each
		eachRow(n, row, to, from, dst, src, func(k int, dst, src []T) {
			by := by[k*row:][:row]
			for i := 0; i < row; i += 2 {
				re, im := src[i], src[i+1]
				dst[i], dst[i+1] = re*by[i]-im*by[i+1], re*by[i+1]+im*by[i]
			}
		})
	}
	return v
}
