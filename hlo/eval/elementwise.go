package eval

import (
	"fmt"
	"iter"
	"maps"

	"github.com/gohalo/halo/hlo"
)

// Elementwise ops. Each is compiled to a [laneOp]: a loop over a run of elements in the wide type of its class, followed by rounding
// to the result type. The tables are in floatops.go, intops.go, complexops.go, compare.go and convert.go.
func init() {
	specialOps = map[hlo.Opcode]func(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error){
		hlo.OpCompare:           compareOp,
		hlo.OpSelect:            selectOp,
		hlo.OpClamp:             clampOp,
		hlo.OpConvert:           convertOp,
		hlo.OpCopy:              convertOp,
		hlo.OpBitcastConvert:    bitcastConvertOp,
		hlo.OpReducePrecision:   reducePrecisionOp,
		hlo.OpStochasticConvert: stochasticConvertOp,
		hlo.OpComplex:           complexOp,
		hlo.OpReal:              partOp,
		hlo.OpImag:              partOp,
		hlo.OpIsFinite:          isFiniteOp,
	}
	family := make(map[hlo.Opcode]Kernel)
	for _, ops := range []iter.Seq[hlo.Opcode]{
		maps.Keys(floatUnary), maps.Keys(floatBinary), maps.Keys(intUnary), maps.Keys(intBinary), maps.Keys(complexUnary), maps.Keys(complexBinary),
		maps.Keys(specialOps),
	} {
		for op := range ops {
			family[op] = elementwise
		}
	}
	family[hlo.OpSelect] = selectElements
	family[hlo.OpBitcastConvert] = bitcastConvert
	family[hlo.OpCopy] = copyOrConvert
	register(family)
}

func hasLaneOp(op hlo.Opcode) bool {
	return floatUnary[op] != nil || floatBinary[op] != nil || intUnary[op] != nil || intBinary[op] != nil || complexUnary[op] != nil ||
		complexBinary[op] != nil || specialOps[op] != nil
}

// specialOps are the elementwise ops whose operands and result differ in type, or that have attributes. Each gets the instruction
// and the types of its operands.
var specialOps map[hlo.Opcode]func(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error)

// laneOpOf is the loop of an elementwise instruction on operands of the given types.
func laneOpOf(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	op, t := in.Opcode(), in.Shape().Type()
	if len(types) == 0 || in.NumOperands() != len(types) {
		return nil, fmt.Errorf("%v is not elementwise", op)
	}
	if special := specialOps[op]; special != nil {
		return special(in, types)
	}
	if op == hlo.OpAbs && types[0].IsComplex() {
		return complexAbs(t), nil
	}
	for _, u := range types {
		if classOf(u) != classOf(t) {
			return nil, fmt.Errorf("%v of %v gives no %v", op, u, t)
		}
	}
	var f laneOp
	switch c := classOf(t); {
	case c == floats && len(types) == 1:
		f = floatUnary[op]
		if g := singleFloat[op]; g != nil && t == hlo.F32 {
			f = g
		}
	case c == floats:
		f = floatBinary[op]
	case c == complexes && len(types) == 1:
		f = complexUnary[op]
		if g := singleUnary[op]; g != nil && t == hlo.C64 {
			f = g
		}
	case c == complexes:
		f = complexBinary[op]
		if g := singleBinary[op]; g != nil && t == hlo.C64 {
			f = g
		}
	case len(types) == 1 && intUnary[op] != nil:
		f = intUnary[op](t)
	case len(types) == 2 && intBinary[op] != nil:
		f = intBinary[op](t)
	}
	if f == nil {
		return nil, fmt.Errorf("%v is not defined on %v", op, t)
	}
	f = narrowed(f, t, types)
	if staysInType[op] || t == hlo.F64 || t == hlo.C128 || t.Bits() == 64 && t.IsInteger() {
		return f, nil
	}
	return func(d, a, b, c *lanes) {
		f(d, a, b, c)
		d.round(t)
	}, nil
}

// staysInType are the ops whose result needs no rounding: it is one of the operands.
var staysInType = map[hlo.Opcode]bool{hlo.OpMaximum: true, hlo.OpMinimum: true, hlo.OpAnd: true, hlo.OpOr: true, hlo.OpXor: true}

// narrowed brings wider operands of mixed precision to the result type first.
func narrowed(f laneOp, t hlo.PrimitiveType, types []hlo.PrimitiveType) laneOp {
	mixed := false
	for _, u := range types {
		mixed = mixed || u != t
	}
	if !mixed {
		return f
	}
	round := func(l *lanes) *lanes {
		r := lanes{append([]float64(nil), l.f...), append([]int64(nil), l.i...), append([]complex128(nil), l.z...)}
		r.round(t)
		return &r
	}
	return func(d, a, b, c *lanes) {
		if len(types) == 1 {
			f(d, round(a), b, c)
			return
		}
		f(d, round(a), round(b), c)
	}
}

// elementwise runs one instruction over whole arrays, a tile at a time.
func elementwise(c *Call) (*hlo.Literal, error) {
	k, err := memo(c, func() (*tiled, error) {
		p, err := instructionProgram(c.In)
		return &tiled{p: p}, err
	})
	if err != nil {
		return nil, err
	}
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	return k.overArrays(s, c.Args)
}

// tiled is a program with one result that is applied to arrays, and the registers of the last time.
type tiled struct {
	p    *program
	f    *frame
	size int // of the registers
}

// registers is a frame of n elements.
func (k *tiled) registers(n int) *frame {
	if k.f == nil || k.size < n {
		k.f, k.size = k.p.frame(n), n
	}
	if k.f.n != n {
		k.f.resize(n)
	}
	return k.f
}

// overArrays applies the program to arrays of n elements; scalars are repeated.
func (k *tiled) overArrays(s hlo.Shape, args []*hlo.Literal) (*hlo.Literal, error) {
	n := int(s.NumElements())
	w := s.Type().ByteSize()
	out := make([]byte, n*w)
	if n == 0 {
		return hlo.NewLiteral(s, out)
	}
	f := k.registers(min(n, tile))
	inputs, types := make([][]byte, len(args)), make([]hlo.PrimitiveType, len(args))
	for i, a := range args {
		types[i] = a.Shape().Type()
		switch m := int(a.Shape().NumElements()); {
		case m == n:
			inputs[i] = bytesOf(a)
		case m == 1:
			f.param(i).splat(a.Shape().Type(), bytesOf(a))
		default:
			return nil, fmt.Errorf("operand %d has shape %v, the result %v", i, a.Shape(), s)
		}
	}
	if err := f.over(s.Type(), out, types, inputs, 0, n); err != nil {
		return nil, err
	}
	return hlo.NewLiteral(s, out)
}

// over computes elements [lo, hi) of out, of type t, from the same of inputs. Parameters whose input is nil are left as they are.
func (f *frame) over(t hlo.PrimitiveType, out []byte, types []hlo.PrimitiveType, inputs [][]byte, lo, hi int) error {
	w := t.ByteSize()
	for at := lo; at < hi; at += tile {
		m := min(tile, hi-at)
		if m != f.n {
			f.resize(m)
		}
		for i, b := range inputs {
			if b != nil {
				w := types[i].ByteSize()
				f.param(i).load(types[i], b[at*w:(at+m)*w])
			}
		}
		if err := f.run(); err != nil {
			return err
		}
		f.result(0).store(t, out[at*w:(at+m)*w])
	}
	return nil
}

// selectElements moves bytes, so that NaNs keep their payload.
func selectElements(c *Call) (*hlo.Literal, error) {
	pred := c.Args[0].Bytes()
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	for _, a := range c.Args[1:] {
		if a.Shape().Type() != s.Type() {
			return elementwise(c) // mixed precision
		}
	}
	yes, no := bytesOf(c.Args[1]), bytesOf(c.Args[2])
	w := s.Type().ByteSize()
	n := int(s.NumElements())
	if len(yes) != n*w || len(no) != n*w {
		return nil, fmt.Errorf("select of %v and %v gives no %v", c.Args[1].Shape(), c.Args[2].Shape(), s)
	}
	if len(pred) == 1 {
		if pred[0] != 0 {
			no = yes
		}
		return hlo.NewLiteral(s, no)
	}
	if len(pred) != n {
		return nil, fmt.Errorf("predicate of shape %v for %v", c.Args[0].Shape(), s)
	}
	out := make([]byte, n*w)
	switch w {
	case 1:
		choose(out, pred, yes, no)
	case 2:
		choose(view[uint16](out), pred, view[uint16](yes), view[uint16](no))
	case 4:
		choose(view[uint32](out), pred, view[uint32](yes), view[uint32](no))
	case 8:
		choose(view[uint64](out), pred, view[uint64](yes), view[uint64](no))
	default:
		choose(view[complex128](out), pred, view[complex128](yes), view[complex128](no))
	}
	return hlo.NewLiteral(s, out)
}

func choose[E any](dst []E, pred []byte, yes, no []E) {
	yes, no, pred = yes[:len(dst)], no[:len(dst)], pred[:len(dst)]
	for i := range dst {
		if pred[i] != 0 {
			dst[i] = yes[i]
		} else {
			dst[i] = no[i]
		}
	}
}

func selectOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	t := in.Shape().Type()
	if types[0] != hlo.PRED || classOf(types[1]) != classOf(t) || classOf(types[2]) != classOf(t) {
		return nil, fmt.Errorf("select of %v, %v and %v gives no %v", types[0], types[1], types[2], t)
	}
	round := types[1] != t || types[2] != t
	return func(d, a, b, c *lanes) {
		pick(d.f, a.i, b.f, c.f)
		pick(d.i, a.i, b.i, c.i)
		pick(d.z, a.i, b.z, c.z)
		if round {
			d.round(t)
		}
	}, nil
}

func pick[E any](d []E, pred []int64, yes, no []E) {
	for k := range d {
		if pred[k] != 0 {
			d[k] = yes[k]
		} else {
			d[k] = no[k]
		}
	}
}

// clampOp is min(hi, max(x, lo)), so hi wins where the bounds cross.
func clampOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	t := in.Shape().Type()
	for _, u := range types {
		if classOf(u) != classOf(t) {
			return nil, fmt.Errorf("clamp of %v gives no %v", u, t)
		}
	}
	switch {
	case classOf(t) == complexes:
		return nil, fmt.Errorf("clamp is not defined on %v", t)
	case t == hlo.U64:
		return func(d, lo, x, hi *lanes) {
			for k := range d.i {
				d.i[k] = int64(min(uint64(hi.i[k]), max(uint64(x.i[k]), uint64(lo.i[k]))))
			}
		}, nil
	case classOf(t) == integers:
		return func(d, lo, x, hi *lanes) {
			for k := range d.i {
				d.i[k] = min(hi.i[k], max(x.i[k], lo.i[k]))
			}
		}, nil
	}
	return func(d, lo, x, hi *lanes) {
		for k := range d.f {
			d.f[k] = min(hi.f[k], max(x.f[k], lo.f[k]))
		}
		roundFloats(d.f, t)
	}, nil
}
