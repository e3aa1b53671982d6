package eval

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
)

// lapackCalls are the LAPACK routines that JAX calls on CPU, for the four element types: lapack_sgetrf_ffi and so on. They are computed
// in double precision and rounded. Leading dimensions of the operands are batches.
var lapackCalls = sync.OnceValue(func() map[string]Kernel {
	calls := make(map[string]Kernel)
	for letter, isComplex := range map[string]bool{"s": false, "d": false, "c": true, "z": true} {
		for name, k := range map[string]Kernel{
			"trsm": lapackTrsm, "potrf": lapackPotrf, "getrf": lapackGetrf, "geqrf": lapackGeqrf, "geqp3": lapackGeqp3,
			"gehrd": lapackGehrd, "gees": lapackGees, "gtsv": lapackGtsv, "gesdd": lapackGesdd, "gesvd": lapackGesdd, "geev": lapackGeev,
		} {
			calls["lapack_"+letter+name+"_ffi"] = k
		}
		names := []string{"orgqr", "syevd", "sytrd", "ormqr"}
		if isComplex {
			names = []string{"ungqr", "heevd", "hetrd", "unmqr"}
		}
		for i, k := range []Kernel{lapackOrgqr, lapackSyevd, lapackSytrd, lapackOrmqr} {
			calls["lapack_"+letter+names[i]+"_ffi"] = k
		}
	}
	return calls
})

// option is a choice of the call, see [hlo.LapackChoice], or the one that JAX makes for Hermitian matrices if the call does not say.
func (c *Call) option(key string, otherwise byte) byte {
	if letter, ok := hlo.LapackChoice(c.In, key); ok {
		return letter
	}
	return otherwise
}

// choice is a choice of the call that nothing else tells.
func (c *Call) choice(key string) (byte, error) {
	letter, ok := hlo.LapackChoice(c.In, key)
	if !ok {
		return 0, c.withoutConfig(key)
	}
	return letter, nil
}

func (c *Call) withoutConfig(key string) error {
	return fmt.Errorf("%s without %s in its backend_config: text that is printed without backend_config, as by as_hlo_text() of JAX 0.6 and 0.7, does not say what is computed. StableHLO (lower(...).as_text()), exports, protos and dumps of XLA do",
		hlo.AttrsOf[hlo.CustomCallAttrs](c.In).Target, key)
}

// matrices is a batch of matrices, all in one slice.
type matrices struct {
	v                 []complex128
	batch, rows, cols int
	s                 hlo.Shape
}

func matricesOf(l *hlo.Literal) (*matrices, error) {
	d := dimsOf(l.Shape())
	if len(d) < 2 || classOf(l.Shape().Type()) == integers {
		return nil, fmt.Errorf("%v is not a batch of matrices", l.Shape())
	}
	return &matrices{complexOf(l), product(d[:len(d)-2]), d[len(d)-2], d[len(d)-1], l.Shape()}, nil
}

// at is matrix k.
func (m *matrices) at(k int) []complex128 { return m.v[k*m.rows*m.cols : (k+1)*m.rows*m.cols] }

// output collects the results of a call.
type output struct {
	c     *Call
	parts []*hlo.Literal
	err   error
}

// shape is the shape of the next result.
func (o *output) shape() hlo.Shape {
	s := o.c.In.Shape()
	if s.IsTuple() && len(o.parts) < s.NumElems() {
		return s.Elem(len(o.parts))
	}
	return s
}

func (o *output) numbers(v []complex128) *output {
	s := o.shape()
	if o.err == nil && (!s.IsArray() || s.NumElements() != int64(len(v)) || classOf(s.Type()) == integers) {
		o.err = fmt.Errorf("result %d has shape %v, which does not fit %d numbers", len(o.parts), s, len(v))
	}
	if o.err == nil {
		var l *hlo.Literal
		l, o.err = packComplex(s, v)
		o.parts = append(o.parts, l)
	}
	return o
}

func (o *output) ints(v []int64) *output {
	s := o.shape()
	if o.err == nil && (!s.IsArray() || s.NumElements() != int64(len(v)) || classOf(s.Type()) != integers) {
		o.err = fmt.Errorf("result %d has shape %v, which does not fit %d integers", len(o.parts), s, len(v))
	}
	if o.err == nil {
		var l *hlo.Literal
		l, o.err = packInts(s, v)
		o.parts = append(o.parts, l)
	}
	return o
}

// value is the tuple of what was collected. Results that are not used, such as a trailing info, may be missing in the shape.
func (o *output) value() (*hlo.Literal, error) {
	if o.err != nil {
		return nil, o.err
	}
	return tupleUnlessOne(o.c.In.Shape(), o.parts), nil
}

// wants reports whether the call has a result number i.
func (o *output) wants(i int) bool { return o.c.In.Shape().IsTuple() && i < o.c.In.Shape().NumElems() }

// lapackTrsm solves a triangular system: (A, B) → X.
func lapackTrsm(c *Call) (*hlo.Literal, error) {
	if len(c.Args) < 2 {
		return nil, fmt.Errorf("trsm takes two matrices")
	}
	var letters [4]byte
	for i, key := range []string{"side", "uplo", "diag", "trans_x"} {
		var err error
		if letters[i], err = c.choice(key); err != nil {
			return nil, err
		}
	}
	if b := c.Args[1].Shape(); !b.EqualIgnoringLayout(c.In.Shape()) {
		return nil, fmt.Errorf("trsm of matrices that do not fit: %v gives %v", b, c.In.Shape())
	}
	x, err := solveTriangular(c.Args[0], c.Args[1], triangularSystem{
		left: letters[0] == 'L', lower: letters[1] == 'L', unit: letters[2] == 'U', transposed: letters[3] != 'N', conjugated: letters[3] == 'C',
	})
	if err != nil {
		return nil, fmt.Errorf("trsm of matrices that do not fit: %w", err)
	}
	return x, nil
}

// lapackPotrf is the Cholesky factorisation: A → (L or U, info). The other triangle stays as it is.
func lapackPotrf(c *Call) (*hlo.Literal, error) {
	m, err := matricesOf(c.Args[0])
	if err != nil || m.rows != m.cols {
		return nil, fmt.Errorf("potrf of %v", c.Args[0].Shape())
	}
	lower := c.option("uplo", 'L') == 'L'
	info := make([]int64, m.batch)
	for k := range m.batch {
		a, n := m.at(k), m.rows
		f := append([]complex128(nil), a...)
		info[k] = int64(factorCholesky(f, n, lower, complexNumbers) + 1)
		for i := range n {
			for j := range n {
				if i == j || lower == (j < i) {
					a[i*n+j] = f[i*n+j]
				}
			}
		}
	}
	return (&output{c: c}).numbers(m.v).ints(info).value()
}

// lapackGetrf is the LU factorisation with partial pivoting: A → (LU, pivots from 1, info).
func lapackGetrf(c *Call) (*hlo.Literal, error) {
	m, err := matricesOf(c.Args[0])
	if err != nil {
		return nil, err
	}
	var pivots []int64
	info := make([]int64, m.batch)
	for k := range m.batch {
		p, bad := factorLU(m.at(k), m.rows, m.cols)
		pivots = append(pivots, p...)
		info[k] = int64(bad)
	}
	return (&output{c: c}).numbers(m.v).ints(pivots).ints(info).value()
}

// lapackGeqrf is the QR factorisation: A → (R above reflectors, tau).
func lapackGeqrf(c *Call) (*hlo.Literal, error) {
	m, err := matricesOf(c.Args[0])
	if err != nil {
		return nil, err
	}
	var taus []complex128
	for k := range m.batch {
		taus = append(taus, factorQR(m.at(k), m.rows, m.cols, nil)...)
	}
	o := (&output{c: c}).numbers(m.v).numbers(taus)
	if o.wants(2) {
		o.ints(make([]int64, m.batch))
	}
	return o.value()
}

// lapackGeqp3 is the QR factorisation with column pivoting: (A, pivots) → (R above reflectors, pivots from 1, tau).
func lapackGeqp3(c *Call) (*hlo.Literal, error) {
	m, err := matricesOf(c.Args[0])
	if err != nil {
		return nil, err
	}
	var taus []complex128
	var pivots []int64
	for k := range m.batch {
		p := make([]int64, m.cols)
		for j := range p {
			p[j] = int64(j + 1)
		}
		taus = append(taus, factorQR(m.at(k), m.rows, m.cols, p)...)
		pivots = append(pivots, p...)
	}
	return (&output{c: c}).numbers(m.v).ints(pivots).numbers(taus).value()
}

// lapackOrgqr is the first columns of Q out of reflectors: (A, tau) → Q.
func lapackOrgqr(c *Call) (*hlo.Literal, error) {
	if len(c.Args) < 2 {
		return nil, fmt.Errorf("orgqr takes reflectors and tau")
	}
	m, err := matricesOf(c.Args[0])
	if err != nil {
		return nil, err
	}
	tau := complexOf(c.Args[1])
	n := 0
	if m.batch > 0 {
		n = len(tau) / m.batch
	}
	if n > m.cols || n > m.rows || m.cols > m.rows {
		return nil, fmt.Errorf("%d reflectors in %v", n, m.s)
	}
	for k := range m.batch {
		expandQ(m.at(k), m.rows, m.cols, tau[k*n:(k+1)*n])
	}
	o := (&output{c: c}).numbers(m.v)
	if o.wants(1) {
		o.ints(make([]int64, m.batch))
	}
	return o.value()
}

// lapackGtsv solves tridiagonal systems: (below, diagonal, above, B) → (…, …, …, X, info).
func lapackGtsv(c *Call) (*hlo.Literal, error) {
	if len(c.Args) != 4 {
		return nil, fmt.Errorf("gtsv takes three diagonals and a matrix")
	}
	m, err := matricesOf(c.Args[3])
	if err != nil {
		return nil, err
	}
	dl, d, du := complexOf(c.Args[0]), complexOf(c.Args[1]), complexOf(c.Args[2])
	n := m.rows
	if len(d) != m.batch*n || len(dl) != len(d) && len(dl) != m.batch*(n-1) || len(du) != len(dl) {
		return nil, fmt.Errorf("diagonals of %v for %v", c.Args[1].Shape(), m.s)
	}
	info := make([]int64, m.batch)
	per := 0
	if m.batch > 0 {
		per = len(dl) / m.batch
	}
	for k := range m.batch {
		below := dl[k*per : (k+1)*per][per-max(0, n-1):] // of n entries the first says nothing
		above := du[k*per : (k+1)*per]
		info[k] = int64(solveTridiagonal(below, d[k*n:(k+1)*n], above, m.at(k), n, m.cols))
	}
	return (&output{c: c}).numbers(dl).numbers(d).numbers(du).numbers(m.v).ints(info).value()
}

// lapackSyevd is eigenvectors and eigenvalues, ascending, of Hermitian matrices: A → (V, w, info). Mode N leaves A in the place of V.
func lapackSyevd(c *Call) (*hlo.Literal, error) {
	m, err := matricesOf(c.Args[0])
	if err != nil || m.rows != m.cols {
		return nil, fmt.Errorf("syevd of %v", c.Args[0].Shape())
	}
	vectors := m.v
	if c.option("mode", 'V') == 'N' {
		vectors = slices.Clone(m.v)
	}
	values := m.eigen(c.option("uplo", 'L') == 'L')
	return (&output{c: c}).numbers(vectors).numbers(values).ints(make([]int64, m.batch)).value()
}

// eigh is the call that XLA's client makes, whose configuration "lower,sort,sweeps,tolerance" is for its own method: A → (V, w). Eigenvalues are ascending in any case.
func eigh(c *Call) (*hlo.Literal, error) {
	m, err := matricesOf(c.Args[0])
	if err != nil || m.rows != m.cols {
		return nil, fmt.Errorf("eigenvectors of %v", c.Args[0].Shape())
	}
	lower := true
	if common := c.In.Common(); common != nil {
		lower = !strings.HasPrefix(strings.Trim(common.BackendConfig, `"{} `), "0")
	}
	values := m.eigen(lower)
	return (&output{c: c}).numbers(m.v).numbers(values).value()
}

// eigen replaces Hermitian matrices, of which one triangle is read, by their eigenvectors, and returns the eigenvalues.
func (m *matrices) eigen(lower bool) (values []complex128) {
	for k := range m.batch {
		if !m.s.Type().IsComplex() {
			if w, ok := eigenSymmetric(m.at(k), m.rows, lower); ok {
				values = append(values, w...)
				continue
			}
		}
		values = append(values, eigenHermitian(m.at(k), m.rows, lower)...)
	}
	return values
}

// lapackGesdd is the singular value decomposition: A → (A, s, U, Vᴴ, info). Mode N leaves zeros in the place of U and Vᴴ, A makes them square.
func lapackGesdd(c *Call) (*hlo.Literal, error) {
	m, err := matricesOf(c.Args[0])
	if err != nil {
		return nil, err
	}
	s := c.In.Shape()
	if !s.IsTuple() || s.NumElems() < 5 || s.Elem(2).Rank() < 2 || s.Elem(3).Rank() < 2 {
		return nil, fmt.Errorf("gesdd with result %v", s)
	}
	columns, rows := int(s.Elem(2).Dim(s.Elem(2).Rank()-1)), int(s.Elem(3).Dim(s.Elem(3).Rank()-2))
	if columns > m.rows || rows > m.cols {
		return nil, fmt.Errorf("gesdd with result %v", s)
	}
	var values, us, vs []complex128
	for k := range m.batch {
		var d, u, v []complex128
		ok := false
		if !m.s.Type().IsComplex() {
			d, u, v, ok = singularReal(m.at(k), m.rows, m.cols, columns, rows)
		}
		if !ok {
			d, u, v = singularValues(m.at(k), m.rows, m.cols, columns, rows)
		}
		values, us, vs = append(values, d...), append(us, u...), append(vs, v...)
	}
	if c.option("mode", 'S') == 'N' {
		clear(us)
		clear(vs)
	}
	return (&output{c: c}).numbers(m.v).numbers(values).numbers(us).numbers(vs).ints(make([]int64, m.batch)).value()
}

// lapackGeev is eigenvalues and left and right eigenvectors: A → (w, Vl, Vr, info), with the eigenvalues of real matrices in two arrays,
// real and imaginary parts. Vectors that the call does not want are zero.
func lapackGeev(c *Call) (*hlo.Literal, error) {
	m, err := matricesOf(c.Args[0])
	if err != nil || m.rows != m.cols {
		return nil, fmt.Errorf("geev of %v", c.Args[0].Shape())
	}
	var values, left, right []complex128
	info := make([]int64, m.batch)
	wantsLeft, wantsRight := c.option("compute_left", 'V') == 'V', c.option("compute_right", 'V') == 'V'
	for k := range m.batch {
		var w, l, r []complex128
		var ok bool
		if m.s.Type().IsComplex() {
			w, l, r, ok = eigenGeneral(m.at(k), m.rows)
		} else {
			w, l, r, ok = eigenReal(m.at(k), m.rows, wantsLeft, wantsRight)
		}
		if !ok {
			info[k] = 1
		}
		values, left, right = append(values, w...), append(left, l...), append(right, r...)
	}
	if !wantsLeft {
		clear(left)
	}
	if !wantsRight {
		clear(right)
	}
	o := &output{c: c}
	if m.s.Type().IsComplex() {
		o.numbers(values)
	} else {
		imaginary := make([]complex128, len(values))
		for i, w := range values {
			imaginary[i] = complex(imag(w), 0)
		}
		o.numbers(values).numbers(imaginary)
	}
	return o.numbers(left).numbers(right).ints(info).value()
}
