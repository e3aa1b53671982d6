package native

import (
	"math"

	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/scalar"
)

// Element is the body of a loop of package vec, for one element among other code: a program over scalars computes it in place, without a call. With AVX-512 that takes
// the registers 16 to 31 and the masks, which the program does not use; with AVX2 the program saves those that it [Element.Uses].
type Element struct {
	e      *expansion
	args   []int
	result int
	below  int
	uses   uint16
}

// firstSpare is the first vector register that an Element may use with AVX-512.
const firstSpare = 16

// argument is the register that an operand is brought to.
func (x *Element) argument(i int) amd64.Reg {
	if x.e.wide {
		return firstSpare + amd64.Reg(i)
	}
	return scalar.InlineArguments[i]
}

// NewElement is that of the loop with this name, which serves magnitudes below a power of two, or all if that is 0. It reports false for loops without a recipe, whose
// elements change their width, that take vectors apart but for their halves, and that need more registers.
func NewElement(name vec.Name, below int) (*Element, bool) {
	r := vec.FindRecipe(name)
	wide := vec.InUse() == vec.AVX512
	if r == nil || !wide && vec.InUse() != vec.AVX2 || r.Lane < 4 || len(r.Args) > len(scalar.InlineArguments) || disabled.Load() {
		return nil, false
	}
	for _, f := range append(r.In[:len(r.In):len(r.In)], r.Out) {
		if f.Kind != vec.Whole || f.Size != r.Lane {
			return nil, false
		}
	}
	x := &Element{below: below, e: &expansion{lane: r.Lane, wide: wide, isMask: make([]bool, 1), numbers: make(map[[16]byte]int), whole: make(map[int]bool)}}
	names := make(map[vec.Operand]int)
	for _, a := range r.Args {
		names[a] = x.e.register(false)
		x.args = append(x.args, names[a])
	}
	x.e.splice(r.Body, names, memory{})
	x.result = names[r.Result]
	x.lowerHalf()
	for i := range x.e.code {
		if c := &x.e.code[i]; acrossHalves(c.op) || c.bits != x.e.bits() {
			return nil, false
		}
		x.e.code[i].bits = 128
	}
	c := &amd64.Code{}
	a := x.assigner(c)
	a.labels = x.e.newLabels(c)
	a.write()
	x.uses = uint16(a.taken)
	return x, x.result != 0 && !a.moved
}

// acrossHalves reports whether an instruction takes vectors apart, or joins them: it has no form of 128 bits.
func acrossHalves(o amd64.VectorOp) bool {
	//halo:allow opswitch instructions of vectors
	switch o {
	case amd64.VEXTRACTF64X4, amd64.VEXTRACTI128, amd64.VINSERTF64X4, amd64.VINSERTI128, amd64.VPERM2F128, amd64.VPERMPD, amd64.VBROADCASTSD:
		return true
	}
	return false
}

// Uses is the set of vector registers below 16 that it changes: bit i is that of register i.
func (x *Element) Uses() uint16 { return x.uses }

// lowerHalf leaves out what is computed of upper halves of vectors, and only joined to lower ones: the element is in a lower one.
func (x *Element) lowerHalf() {
	for i := range x.e.code {
		if c := &x.e.code[i]; c.op == amd64.VINSERTF64X4 || c.op == amd64.VINSERTI128 {
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
	first, last := amd64.Reg(0), amd64.Reg(15)
	if x.e.wide {
		first, last = firstSpare, 31
	}
	for i, v := range x.args {
		r := x.argument(i)
		a.at[v], a.holder[vectors][r] = int(r), v
		a.taken |= 1 << r
	}
	for r := last; ; r-- {
		if a.holder[vectors][r] == 0 {
			a.free[vectors] = append(a.free[vectors], r)
		}
		if r == first {
			break
		}
	}
	a.places[x.result] = append(a.places[x.result], math.MaxInt-1)
	return a
}

// Write computes the element from args, vector registers of which it uses the low end, and returns the register with the result; constant is
// where 16 bytes are in the code.
func (x *Element) Write(c *amd64.Code, args []amd64.Reg, constant func([16]byte) amd64.Label) amd64.Reg {
	for i, r := range args { // in all lanes, for what is in the others may be slow to compute on
		d := amd64.R(x.argument(i))
		if x.e.lane == 4 {
			c.Vector(&amd64.Vector{Op: amd64.VPUNPCKLDQ, Wide: x.e.wide, Bits: 128, D: d, X: r, Y: amd64.R(r)})
			r, _ = d.Reg()
		}
		c.Vector(&amd64.Vector{Op: amd64.VPUNPCKLQDQ, Wide: x.e.wide, Bits: 128, D: d, X: r, Y: amd64.R(r)})
	}
	a := x.assigner(c)
	for _, bytes := range x.e.pool {
		a.labels = append(a.labels, constant(bytes))
	}
	a.write()
	return amd64.Reg(a.at[x.result])
}
