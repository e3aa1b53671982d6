package native

import (
	"encoding/binary"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// logic are the loops on bytes that are done on masks where their operands are truth values.
var logic = map[vec.Name]func(e *expansion, m []int) int{
	vec.Of(hlo.OpAnd, hlo.U8):                      func(e *expansion, m []int) int { return e.both(amd64.KAND, amd64.VPAND, m[0], m[1]) },
	vec.Of(hlo.OpOr, hlo.U8):                       func(e *expansion, m []int) int { return e.both(amd64.KOR, amd64.VPOR, m[0], m[1]) },
	vec.Of(hlo.OpXor, hlo.U8):                      differ,
	vec.Of(hlo.OpNot, hlo.PRED):                    func(e *expansion, m []int) int { return e.not(m[0]) },
	vec.Of(hlo.OpCompare, hlo.U8).In(vec.NotEqual): differ,
	vec.Of(hlo.OpCompare, hlo.U8).In(vec.Equal):    func(e *expansion, m []int) int { return e.not(differ(e, m)) },
	vec.Of(hlo.OpSelect, hlo.U8): func(e *expansion, m []int) int {
		return e.both(amd64.KOR, amd64.VPOR, e.both(amd64.KAND, amd64.VPAND, m[0], m[1]), e.both(amd64.KAND, amd64.VPAND, e.not(m[0]), m[2]))
	},
}

func differ(e *expansion, m []int) int { return e.both(amd64.KXOR, amd64.VPXOR, m[0], m[1]) }

// mask is the register with value v as a mask.
func (e *expansion) mask(v Value) int {
	if x := &e.b.values[v]; x.op < 0 {
		r := vec.FindRecipe(vec.Of(hlo.OpSelect, vec.Sized(e.lane))) // whose first operand is a mask
		return e.load(r.Loads[0], r.Args[0], r.In[0], v)
	}
	if h := &e.values[v]; h.form.kind == vec.Truth {
		return h.reg
	}
	return e.fail("logic on what is no mask")
}

// logic appends an op on masks.
func (e *expansion) logic(o *op) {
	m := make([]int, len(o.args))
	for i, a := range o.args {
		m[i] = e.mask(a)
	}
	if e.failure != "" {
		return
	}
	d := logic[o.name](e, m)
	r := vec.FindRecipe(vec.Of(hlo.OpCompare, vec.Sized(e.lane)).In(vec.Equal)) // whose result is a mask
	e.values[o.d] = held{d, form{r.Out.Kind, r.Out.Size, r.Store, map[vec.Operand]int{r.Result: d}}}
}

// both is an op on two masks, which are in mask registers or vectors.
func (e *expansion) both(o amd64.MaskOp, v amd64.VectorOp, x, y int) int {
	d := e.register(e.wide)
	if e.wide {
		e.code = append(e.code, instr{kind: onMasks, mask: o, d: d, x: x, y: y})
	} else {
		e.code = append(e.code, instr{op: v, bits: 256, d: d, x: x, y: y})
	}
	return d
}

func (e *expansion) not(x int) int {
	d := e.register(e.wide)
	if e.wide {
		e.code = append(e.code, instr{kind: maskNot, d: d, x: x})
	} else {
		ones := memory{kind: inPool, index: e.constant(bytesOf([2]uint64{^uint64(0), ^uint64(0)}))}
		e.code = append(e.code, instr{op: amd64.VPXOR, bits: 256, d: d, x: x, from: ones})
	}
	return d
}

// asInteger makes lanes 0 and 1 of a mask.
func (e *expansion) asInteger(mask int) int {
	d := e.register(false)
	var one [16]byte
	for i := 0; i < len(one); i += e.lane {
		one[i] = 1
	}
	ones := memory{kind: inPool, index: e.constant(one)}
	if !e.wide {
		e.code = append(e.code, instr{op: amd64.VPAND, bits: 256, d: d, x: mask, from: ones})
		return d
	}
	move := map[int]amd64.VectorOp{1: amd64.VMOVDQU8, 2: amd64.VMOVDQU16, 4: amd64.VMOVUPS, 8: amd64.VMOVUPD}[e.lane]
	e.code = append(e.code, instr{op: move, bits: 512, d: d, k: mask, zero: true, from: ones})
	return d
}

func bytesOf(pair [2]uint64) (c [16]byte) {
	binary.LittleEndian.PutUint64(c[:], pair[0])
	binary.LittleEndian.PutUint64(c[8:], pair[1])
	return c
}
