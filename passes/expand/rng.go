package expand

import (
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewRng makes the expander of rng.
func NewRng(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("seed"); err != nil {
		return nil, err
	}
	seed, err := o.Int("seed", 0)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "rng-expander",
		Doc: `write rng as random bits of Philox, and numbers made of them

Every instruction has a key of its own, made of the seed and, in programs for several devices, of the device, and a counter: the state that rng-get-and-update-state keeps. Uniform numbers are as many bits
as the fraction has, scaled; integers are remainders; normal numbers are made two at a time (after Box and Muller).`,
		Options: o,
		Params:  []pass.Param{{Name: "seed", Doc: "what the keys begin with; 0"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			n := uint64(0)
			for c := range m.PostOrder() {
				for _, in := range backward(c) {
					if in.Opcode() != hlo.OpRng {
						continue
					}
					d, why := newDraw(in)
					if why != "" {
						ctx.Missed(in, "not expanded: %s", why)
						continue
					}
					if !ctx.SpendUnder(pass.FastMath, "expand", pass.FastMath) { // other numbers of the same distribution
						continue
					}
					n++
					ce := e.Computation(c.ID())
					d.At = emit.Before(ce, ce.At(in.ID()))
					d.key = d.deviceKey(m.Config(), uint64(seed)^golden(n))
					if err := emit.Replace(ce, in.ID(), d.numbers()); err != nil {
						return m, err
					}
					ctx.Count("expanded", 1)
				}
			}
			return e.Freeze(), nil
		},
	}, nil
}

// draw is an instruction that draws numbers.
type draw struct {
	emit.At
	in   hlo.Instruction
	s    hlo.Shape
	t    hlo.PrimitiveType // of the arithmetic
	n    int64
	key  hlo.InstrID
	a, b hlo.InstrID // the limits of a uniform distribution; mean and deviation of a normal one
}

func newDraw(in hlo.Instruction) (d draw, refused string) {
	s := in.Shape()
	d = draw{in: in, s: s, t: s.Type(), n: s.NumElements()}
	if d.t.IsFloat() && d.t.Bits() < 32 {
		d.t = hlo.F32
	}
	uniform := hlo.AttrsOf[hlo.RngAttrs](in).Distribution == hlo.RngUniform
	switch t := s.Type(); {
	case !s.IsArray() || !s.IsStatic():
		return d, fmt.Sprintf("a result of shape %v", s)
	case in.NumOperands() != 2 || !in.OperandInstr(0).Shape().IsScalar() || !in.OperandInstr(1).Shape().IsScalar() ||
		in.OperandInstr(0).Shape().Type() != t || in.OperandInstr(1).Shape().Type() != t:
		return d, "parameters of other types"
	case t.IsFloat(), uniform && t == hlo.PRED, uniform && t.IsInteger() && t.Bits() >= 8:
		return d, ""
	default:
		return d, fmt.Sprintf("numbers of %v", t)
	}
}

// deviceKey is the key of an instruction on this device.
func (d draw) deviceKey(c *hlo.ModuleConfig, key uint64) hlo.InstrID {
	k := d.Int(hlo.U64, int64(key))
	xor := func(op hlo.Opcode, shift int64) {
		id := d.Convert(d.OpOf(op, hlo.MakeShape(hlo.U32), nil), hlo.U64)
		k = d.Binary(hlo.OpXor, k, d.Binary(hlo.OpShiftLeft, id, d.Int(hlo.U64, shift)))
	}
	if c.ReplicaCount > 1 {
		xor(hlo.OpReplicaId, 0)
	}
	if c.NumPartitions > 1 {
		xor(hlo.OpPartitionId, 32)
	}
	return k
}

// bits is n random words, of 64 bits if the numbers have that, else of 32.
func (d draw) bits(n int64) hlo.InstrID {
	word := hlo.U32
	if d.t.Bits() == 64 {
		word = hlo.U64
	}
	s := hlo.MakeShape(word, n)
	state := d.OpOf(hlo.OpRngGetAndUpdateState, hlo.MakeShape(hlo.U64, 2), &hlo.RngStateAttrs{Delta: philoxCounters(s)})
	half := func(i int64) hlo.InstrID { return d.Reshape(d.SliceAxis(state, 0, i, i+1)) }
	return philoxArray(d.At, d.key, counter{lo: half(0), hi: half(1)}, s)
}

// unit is random words as numbers of at least 0 and less than 1, with as many bits as the fraction has.
func (d draw) unit(words hlo.InstrID) hlo.InstrID {
	shift, scale := int64(9), 0x1p-23
	if d.t == hlo.F64 {
		shift, scale = 12, 0x1p-52
	}
	s := d.Shape(words)
	words = d.Binary(hlo.OpShiftRightLogical, words, d.Fill(d.Int(s.Type(), shift), s.Dimensions()...))
	return d.Binary(hlo.OpMultiply, d.Convert(words, d.t), d.real(scale, s.Dimensions()...))
}

func (d draw) real(v float64, dims ...int64) hlo.InstrID { return d.Fill(d.Float(d.t, v), dims...) }

// numbers is the result.
func (d draw) numbers() hlo.InstrID {
	if d.n == 0 {
		return d.Fill(d.Constant(emit.Zero(d.s.Type())), d.s.Dimensions()...)
	}
	d.a, d.b = d.in.Operand(0), d.in.Operand(1)
	var v hlo.InstrID
	switch {
	case d.t == hlo.PRED:
		words := d.bits(d.n)
		one := d.Fill(d.Int(hlo.U32, 1), d.n)
		v = d.Compare(hlo.EQ, d.Binary(hlo.OpAnd, words, one), one)
	case d.t.IsInteger():
		v = d.integers()
	default:
		d.a, d.b = d.Convert(d.a, d.t), d.Convert(d.b, d.t)
		if hlo.AttrsOf[hlo.RngAttrs](d.in).Distribution == hlo.RngUniform {
			span := d.Binary(hlo.OpSubtract, d.b, d.a)
			v = d.Binary(hlo.OpAdd, d.Binary(hlo.OpMultiply, d.unit(d.bits(d.n)), d.Fill(span, d.n)), d.Fill(d.a, d.n))
		} else {
			v = d.normal()
		}
		v = d.Convert(v, d.s.Type())
	}
	return d.Reshape(v, d.s.Dimensions()...)
}

// integers are a + word modulo (b - a); all of the type's if that is 0.
func (d draw) integers() hlo.InstrID {
	u := unsigned(d.t)
	words := d.bits(d.n)
	word := d.Shape(words).Type()
	a, b := cast(d.At, d.a, u), cast(d.At, d.b, u)
	span := d.Convert(d.Binary(hlo.OpSubtract, b, a), word)
	none := d.Compare(hlo.EQ, span, d.Int(word, 0))
	span = d.Select(none, d.Int(word, 1), span) // a, where there is nothing to choose from
	rest := d.Convert(d.Binary(hlo.OpRemainder, words, d.Fill(span, d.n)), u)
	return asType(d.At, d.Binary(hlo.OpAdd, rest, d.Fill(a, d.n)), d.t)
}

// normal makes two numbers of two uniform ones, u and w: the length √(-2 log u) in the direction 2π·w.
func (d draw) normal() hlo.InstrID {
	pairs := (d.n + 1) / 2
	words := d.Reshape(d.bits(2*pairs), pairs, 2)
	half := func(i int64) hlo.InstrID { return d.unit(d.Reshape(d.SliceAxis(words, 1, i, i+1), pairs)) }
	least := d.real(1e-7, pairs) // of which the logarithm is finite
	u := d.Binary(hlo.OpMaximum, half(0), least)
	angle := d.Binary(hlo.OpMultiply, half(1), d.real(2*math.Pi, pairs))
	length := d.Unary(hlo.OpSqrt, d.Binary(hlo.OpMultiply, d.Unary(hlo.OpLog, u), d.real(-2, pairs)))
	length = d.Binary(hlo.OpMultiply, length, d.Fill(d.b, pairs))
	mean := d.Fill(d.a, pairs)
	x := d.Binary(hlo.OpAdd, mean, d.Binary(hlo.OpMultiply, length, d.Unary(hlo.OpSine, angle)))
	y := d.Binary(hlo.OpAdd, mean, d.Binary(hlo.OpMultiply, length, d.Unary(hlo.OpCosine, angle)))
	return interleaved(d.At, 0, d.n, x, y)
}
