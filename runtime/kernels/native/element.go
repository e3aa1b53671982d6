package native

import (
	"math"

	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// Element is the body of a loop of package vec, for one element among other code: a program over scalars computes it in place, in the
// registers 16 to 31 and the masks, without a call. There are so many with AVX-512 only.
type Element struct {
	e      *expansion
	args   []int
	result int
	below  int
}

// firstSpare is the first vector register that an Element may use.
const firstSpare = 16

// NewElement is that of the loop with this name, which serves magnitudes below a power of two, or all if that is 0. It reports false for loops without a recipe, whose
// elements change their width, that take vectors apart but for their halves, and that need more registers.
func NewElement(name vec.Name, below int) (*Element, bool) {
	r := vec.FindRecipe(name)
	if r == nil || vec.InUse() != vec.AVX512 || r.Lane < 4 || disabled.Load() {
		return nil, false
	}
	for _, f := range append(r.In[:len(r.In):len(r.In)], r.Out) {
		if f.Kind != vec.Whole || f.Size != r.Lane {
			return nil, false
		}
	}
	x := &Element{below: below, e: &expansion{lane: r.Lane, wide: true, isMask: make([]bool, 1), numbers: make(map[[16]byte]int), whole: make(map[int]bool)}}
	names := make(map[vec.Operand]int)
	for _, a := range r.Args {
		names[a] = x.e.register(false)
		x.args = append(x.args, names[a])
	}
	x.e.splice(r.Body, names, memory{})
	x.result = names[r.Result]
	x.lowerHalf()
	for i := range x.e.code {
		if halves := x.e.code[i].op == amd64.VEXTRACTF64X4; halves || x.e.code[i].bits != 512 {
			return nil, false
		}
		x.e.code[i].bits = 128
	}
	c := &amd64.Code{}
	a := x.assigner(c)
	a.labels = x.e.newLabels(c)
	a.write()
	return x, x.result != 0 && !a.moved
}

// lowerHalf leaves out what is computed of upper halves of vectors, and only joined to lower ones: the element is in a lower one.
func (x *Element) lowerHalf() {
	for i := range x.e.code {
		if c := &x.e.code[i]; c.op == amd64.VINSERTF64X4 {
			*c = instr{op: amd64.VMOVUPS, bits: c.bits, d: c.d, y: c.x}
		}
	}
	x.e.prune(x.result)
}

// Lane is the size of the element in bytes, and Args the number of its operands, which are as large.
func (x *Element) Lane() int { return x.e.lane }
func (x *Element) Args() int { return len(x.args) }

// Below is the power of two below which the magnitude of the only operand has to be, or 0, and whether that is one of f64.
func (x *Element) Below() (power int, double bool) { return x.below, x.e.lane == 8 }

// assigner has the operands in the first spare registers, and keeps the result.
func (x *Element) assigner(c *amd64.Code) *assigner {
	body := make([]int, len(x.e.code))
	for i := range body {
		body[i] = i
	}
	a := newAssigner(x.e, c, body, x.e.placesIn(body), nil)
	a.free[vectors] = nil
	for r := 31; r >= firstSpare+len(x.args); r-- {
		a.free[vectors] = append(a.free[vectors], amd64.Reg(r))
	}
	for i, v := range x.args {
		a.at[v], a.holder[vectors][firstSpare+i] = firstSpare+i, v
	}
	a.places[x.result] = append(a.places[x.result], math.MaxInt-1)
	return a
}

// Write computes the element from args, vector registers of which it uses the low end, and returns the register with the result; constant is
// where 16 bytes are in the code.
func (x *Element) Write(c *amd64.Code, args []amd64.Reg, constant func([16]byte) amd64.Label) amd64.Reg {
	for i, r := range args { // in all lanes, for what is in the others may be slow to compute on
		d := amd64.R(firstSpare + amd64.Reg(i))
		if x.e.lane == 4 {
			c.Vector(&amd64.Vector{Op: amd64.VPUNPCKLDQ, Wide: true, Bits: 128, D: d, X: r, Y: amd64.R(r)})
			r, _ = d.Reg()
		}
		c.Vector(&amd64.Vector{Op: amd64.VPUNPCKLQDQ, Wide: true, Bits: 128, D: d, X: r, Y: amd64.R(r)})
	}
	a := x.assigner(c)
	for _, bytes := range x.e.pool {
		a.labels = append(a.labels, constant(bytes))
	}
	a.write()
	return amd64.Reg(a.at[x.result])
}
