package factor

// Float is an element type of real matrices.
type Float interface{ float32 | float64 }

// rotator rotates neighbouring rows of a matrix that begins as the identity. Sweeps of rotations are put aside until there are many, so that
// a strip of columns stays in the nearest cache for all of them. It keeps memory from one call to the next; the zero value is ready.
type rotator[R Float] struct {
	n, stride int
	rows      []R // n rows
	cs        []R // cosine and sine of each rotation that was put aside
	sweeps    []sweep
	loops     rotateLoops[R]
}

// sweep is rotations of rows from, from+step and so on, each with the next.
type sweep struct{ from, step, first, n int }

// rotateLoops rotate n+1 rows, stride apart: some in strips of width columns, any in strips of narrow columns.
type rotateLoops[R Float] struct {
	width, narrow int
	wide, thin    func(n int, cs, rows []R, at, stride int) // rows[at] is the first element
}

// rowMultiple is what the stride of padded rows is a multiple of: the elements of the longest vectors.
const rowMultiple = 16

// manyRotations is how many are put aside at most.
const manyRotations = 1 << 13

func padded(n int) int { return (n + rowMultiple - 1) / rowMultiple * rowMultiple }

// reset begins with the identity of n rows.
func (r *rotator[R]) reset(n int) {
	r.n, r.stride = n, padded(n)
	if r.stride%256 == 0 { // rows a power of two apart fall on the same lines of the cache
		r.stride += rowMultiple
	}
	r.rows = grown(r.rows, n*r.stride)
	clear(r.rows[:n*r.stride])
	for i := range n {
		r.rows[i*r.stride+i] = 1
	}
	r.cs, r.sweeps = r.cs[:0], r.sweeps[:0]
	if r.loops.narrow == 0 {
		r.loops = loopsFor[R]()
	}
}

// begin opens a sweep that starts at a row and goes up (step 1) or down (step -1) in number.
func (r *rotator[R]) begin(from, step int) {
	if len(r.cs) >= 2*manyRotations {
		r.flush()
	}
	r.sweeps = append(r.sweeps, sweep{from: from, step: step, first: len(r.cs)})
}

// add puts a rotation into the sweep: row x and the next one, y, become c·x + s·y and c·y - s·x.
func (r *rotator[R]) add(c, s float64) {
	r.cs = append(r.cs, R(c), R(s))
	r.sweeps[len(r.sweeps)-1].n++
}

// flush applies what was put aside, strip by strip.
func (r *rotator[R]) flush() {
	width, run := r.loops.width, r.loops.wide
	for at := 0; at < padded(r.n); at += width {
		if at+width > padded(r.n) {
			width, run = r.loops.narrow, r.loops.thin
		}
		for _, s := range r.sweeps {
			if s.n == 0 {
				continue
			}
			run(s.n, r.cs[s.first:], r.rows, s.from*r.stride+at, s.step*r.stride)
		}
	}
	r.cs, r.sweeps = r.cs[:0], r.sweeps[:0]
}

// row is row i, after flush.
func (r *rotator[R]) row(i int) []R { return r.rows[i*r.stride:][:r.n] }

// portableLoops are for any processor.
func portableLoops[R Float]() rotateLoops[R] {
	return rotateLoops[R]{rowMultiple, rowMultiple, rotateRows[R], rotateRows[R]}
}

func rotateRows[R Float](n int, cs, rows []R, at, stride int) {
	for ; n > 0; n-- {
		c, s := cs[0], cs[1]
		x, y := (*[rowMultiple]R)(rows[at:]), (*[rowMultiple]R)(rows[at+stride:])
		for i, v := range x {
			x[i], y[i] = c*v+s*y[i], c*y[i]-s*v
		}
		cs, at = cs[2:], at+stride
	}
}

// columns gives the rows in the given order as columns: for each i, element i of all rows.
func (r *rotator[R]) columns(order []int, use func(i int, row []R)) {
	const block = 16
	r.cs = grown(r.cs, block*r.n)
	room := r.cs[:block*r.n]
	for i := 0; i < r.n; i += block {
		count := min(block, r.n-i)
		for j, k := range order {
			for x, v := range r.rows[k*r.stride+i:][:count] {
				room[x*r.n+j] = v
			}
		}
		for x := range count {
			use(i+x, room[x*r.n:][:r.n])
		}
	}
}

// setReal sets numbers to real ones.
func setReal[T Number, R Float](dst []T, src []R) {
	switch dst := any(dst).(type) {
	case []float32:
		for i, x := range src {
			dst[i] = float32(x)
		}
	case []float64:
		for i, x := range src {
			dst[i] = float64(x)
		}
	case []complex64:
		for i, x := range src {
			dst[i] = complex(float32(x), 0)
		}
	case []complex128:
		for i, x := range src {
			dst[i] = complex(float64(x), 0)
		}
	}
}
