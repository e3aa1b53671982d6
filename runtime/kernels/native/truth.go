package native

import (
	"encoding/binary"

	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// logic are the loops on bytes that are done on masks where their operands are truth values.
var logic = map[string]bool{"and.8": true, "or.8": true, "xor.8": true, "not.pred": true, "select.8": true, "eq.i8": true, "ne.i8": true}

// mask is the register with value v as a mask.
func (e *expansion) mask(v Value) int {
	if x := &e.b.values[v]; x.op < 0 {
		r := vec.FindRecipe(selects[e.lane])
		return e.load(r.Loads[0], r.Args[0], r.In[0], v)
	}
	if h := &e.values[v]; h.form.kind == vec.Truth {
		return h.reg
	}
	return e.fail("logic on what is no mask")
}

// selects are the recipes, by lanes, the first operand of which is a mask, and comparisons those whose result is one.
var (
	selects     = map[int]string{1: "select.8", 2: "select.16", 4: "select.32", 8: "select.64"}
	comparisons = map[int]string{1: "eq.i8", 2: "eq.i16", 4: "eq.i32", 8: "eq.i64"}
)

// logic appends an op on masks.
func (e *expansion) logic(o *op) {
	var m [3]int
	for i, a := range o.args {
		m[i] = e.mask(a)
	}
	if e.failure != "" {
		return
	}
	var d int
	switch o.name {
	case "and.8":
		d = e.both(amd64.KAND, amd64.VPAND, m[0], m[1])
	case "or.8":
		d = e.both(amd64.KOR, amd64.VPOR, m[0], m[1])
	case "xor.8", "ne.i8":
		d = e.both(amd64.KXOR, amd64.VPXOR, m[0], m[1])
	case "eq.i8":
		d = e.not(e.both(amd64.KXOR, amd64.VPXOR, m[0], m[1]))
	case "not.pred":
		d = e.not(m[0])
	case "select.8":
		d = e.both(amd64.KOR, amd64.VPOR, e.both(amd64.KAND, amd64.VPAND, m[0], m[1]), e.both(amd64.KAND, amd64.VPAND, e.not(m[0]), m[2]))
	}
	r := vec.FindRecipe(comparisons[e.lane])
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
