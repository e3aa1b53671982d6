package main

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// kernel is what the generator knows of a loop over elements.
type kernel struct {
	key      string // in the tables, as in add.f32
	doc      string
	out      form
	in       []form
	lane     int // bytes: those of the widest element
	unroll   int
	wideOnly bool
	halfOnly bool // 256 bits: with 512, another kernel has the key
	heavy    bool // so that all vectors may as well be masked, by code that is there once
	body     func(m *machine, in []vector) vector
	// before, if set, emits what comes before the loop, and returns the body.
	before func(m *machine) func(m *machine, in []vector) vector
	// whole, if set, is the function instead of a loop around a body.
	whole func(m *machine)
	chunk int // elements that a fold takes at once
	// recipe says that there is no loop of the body, which has more operands than loops do: it is for programs made at run time.
	recipe bool
}

// form is how elements lie in memory.
type form struct {
	size   int
	name   string // for recipes: truth, zeros, or nothing in particular
	masked bool   // load and store know masks of 256 bits
	apart  bool   // two in a lane, the upper one of which a mask keeps: see apart.go
	upper  vector
	codes  *codes // if they are compared without being decoded
	// load and store go between memory and lanes; tail is a mask register that limits them, or nil. Without them elements are as wide as
	// lanes.
	load  func(m *machine, from operand.Mem, tail operand.Op) vector
	store func(m *machine, x vector, to operand.Mem, tail operand.Op)
}

// isFor reports whether there is a kernel on vectors of 512 bits, or of 256.
func (k *kernel) isFor(wide bool) bool { return wide && !k.halfOnly || !wide && !k.wideOnly }

// isPartial reports whether 256-bit code leaves a rest behind: only lanes of 32 and 64 bits have masked loads there.
func (k *kernel) isPartial() bool {
	if k.whole != nil {
		return k.chunk > 0 && (k.lane < 4 || len(k.in) > 0)
	}
	partial := k.out.store != nil && !k.out.masked || k.lane < 4
	for _, f := range k.in {
		partial = partial || f.load != nil && !f.masked
	}
	return partial
}

// functionName is the key in camel case and the instruction set.
func (m *machine) functionName(key string) string {
	var b strings.Builder
	for i, word := range strings.FieldsFunc(key, func(r rune) bool { return r == '.' || r == '-' }) {
		if i > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
	if m.wide {
		return b.String() + "AVX512"
	}
	return b.String() + "AVX2"
}

// function emits the function of a kernel and returns its name.
func (m *machine) function(k kernel) string {
	name := m.functionName(k.key)
	m.Function(name)
	m.Attributes(attr.NOSPLIT)
	m.Signature(signature())
	m.Doc(name + " " + k.doc)
	m.Pragma("noescape")
	if k.whole != nil {
		k.whole(m)
	} else {
		m.loop(k)
	}
	m.VZEROUPPER()
	m.RET()
	return name
}

// signature is that of vec.Loop.
func signature() *gotypes.Signature {
	params := []*types.Var{types.NewParam(token.NoPos, nil, "n", types.Typ[types.Int])}
	for _, name := range []string{"d", "a", "b", "c"} {
		params = append(params, types.NewParam(token.NoPos, nil, name, types.Typ[types.UnsafePointer]))
	}
	return gotypes.NewSignature(nil, types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), nil, false))
}

// argument loads an argument, all of which are words.
func (m *machine) argument(name string) reg.Register {
	r := m.GP64()
	m.MOVQ(m.argumentAt(name), r)
	return r
}

// argumentAt is where an argument is.
func (m *machine) argumentAt(name string) operand.Mem {
	at, err := m.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return at.Addr
}

// loop emits the main loop over several vectors, then one over single vectors, the last of which is cut off by a mask.
func (m *machine) loop(k kernel) {
	n := m.argument("n")
	bases := []reg.Register{m.argument("d")}
	for i := range k.in {
		bases = append(bases, m.argument([]string{"a", "b", "c"}[i]))
	}
	if k.before != nil {
		k.body = k.before(m)
	}
	i := m.GP64()
	m.XORQ(i, i)
	lanes, partial := m.lanes(), !m.wide && k.isPartial()
	at := func(base reg.Register, size, vector int) operand.Mem {
		return operand.Mem{Base: base, Index: i, Scale: uint8(size), Disp: vector * lanes * size}
	}
	body := func(u int, tail operand.Op) {
		in := make([]vector, len(k.in))
		for x, f := range k.in {
			in[x] = m.load(f, at(bases[x+1], f.size, u), tail)
		}
		m.store(k.out, k.body(m, in), at(bases[0], k.out.size, u), tail)
	}
	step := operand.I32(int32(k.unroll * lanes))
	if !k.heavy {
		m.CMPQ(n, step)
		m.JLT(operand.LabelRef("rest"))
		m.Label("many")
		for u := range k.unroll {
			body(u, nil)
		}
		m.ADDQ(step, i)
		m.SUBQ(step, n)
		m.CMPQ(n, step)
		m.JGE(operand.LabelRef("many"))
	}
	m.Label("rest")
	if partial {
		m.CMPQ(n, operand.I32(int32(lanes)))
		m.JLT(operand.LabelRef("done"))
		body(0, nil)
	} else {
		m.TESTQ(n, n)
		m.JLE(operand.LabelRef("done"))
		body(0, m.tail(n))
	}
	m.ADDQ(operand.I32(int32(lanes)), i)
	m.SUBQ(operand.I32(int32(lanes)), n)
	m.JMP(operand.LabelRef("rest"))
	m.Label("done")
}

// tail is a mask of the first n lanes, or all if n is more.
func (m *machine) tail(n reg.Register) operand.Op {
	if m.wide {
		ones, count, k := m.GP64(), m.GP64(), m.K()
		m.MOVQ(operand.I32(int32(m.lanes())), count)
		m.CMPQ(n, count)
		m.CMOVQLT(n, count)
		m.MOVQ(operand.I32(-1), ones)
		m.BZHIQ(count, ones, ones)
		m.KMOVQ(ones, k)
		return k
	}
	from, zero, table := m.GP64(), m.GP64(), m.GP64()
	m.XORQ(zero, zero)
	m.MOVQ(operand.I32(int32(m.lanes())), from)
	m.SUBQ(n, from)
	m.CMOVQLT(zero, from)
	m.LEAQ(m.tailMasks(), table)
	mask := m.vector()
	m.float("VMOVU", operand.Mem{Base: table, Index: from, Scale: uint8(m.lane)}, mask)
	return mask.VecVirtual
}

func (m *machine) load(f form, from operand.Mem, tail operand.Op) vector {
	if f.load != nil {
		return f.load(m, from, tail)
	}
	d := m.vector()
	switch {
	case m.lane < 4 && tail != nil:
		m.op("VMOVDQU"+fmt.Sprint(8*m.lane)+"_Z", from, tail, d)
	case m.lane < 4 && m.wide:
		m.op("VMOVDQU"+fmt.Sprint(8*m.lane), from, d)
	case m.lane < 4:
		m.op("VMOVDQU", from, d)
	case tail == nil:
		m.float("VMOVU", from, d)
	case m.wide:
		m.float2("VMOVU", "_Z", from, tail, d)
	default:
		m.float("VMASKMOV", from, tail, d)
	}
	return d
}

func (m *machine) store(f form, x vector, to operand.Mem, tail operand.Op) {
	switch {
	case f.store != nil:
		f.store(m, x, to, tail)
	case m.lane < 4 && tail != nil:
		m.op("VMOVDQU"+fmt.Sprint(8*m.lane), x, tail, to)
	case m.lane < 4 && m.wide:
		m.op("VMOVDQU"+fmt.Sprint(8*m.lane), x, to)
	case m.lane < 4:
		m.op("VMOVDQU", x, to)
	case tail == nil:
		m.float("VMOVU", x, to)
	case m.wide:
		m.float("VMOVU", x, tail, to)
	default:
		m.float("VMASKMOV", x, tail, to)
	}
}

// float2 is float for names with something behind the type.
func (m *machine) float2(name, suffix string, ops ...operand.Op) {
	m.op(name+m.floatSuffix()+suffix, ops...)
}
