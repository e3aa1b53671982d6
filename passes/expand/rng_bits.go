package expand

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewRngBitGenerator makes the expander of rng-bit-generator.
func NewRngBitGenerator(o pass.Options) (*pass.Pass, error) {
	const key = "default-algorithm"
	if err := o.Known(key); err != nil {
		return nil, err
	}
	otherwise := hlo.RngPhilox
	switch text := o.Text(key, "philox"); text {
	case "philox", "rng-philox", "rng_philox":
	case "three-fry", "threefry", "rng-three-fry", "rng_three_fry":
		otherwise = hlo.RngThreeFry
	default:
		return nil, fmt.Errorf("%s=%s: want philox or three-fry", key, text)
	}
	return &pass.Pass{
		Name: "rng-bit-generator-expander",
		Doc: `write rng-bit-generator as the arithmetic of its algorithm

Philox is Philox-4x32 with 10 rounds, and ThreeFry is Threefry-2x32 with 20: the same bits as those of the op. Each generator of one algorithm, state and result is a computation, which is
called.`,
		Options: o,
		Params:  []pass.Param{{Name: key, Doc: "philox or three-fry: what rng_default is; philox, as in the engines"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			made := map[string]hlo.CompID{}
			for c := range m.PostOrder() {
				for _, in := range backward(c) {
					if in.Opcode() != hlo.OpRngBitGenerator {
						continue
					}
					algorithm := hlo.AttrsOf[hlo.RngBitGeneratorAttrs](in).Algorithm
					class := pass.Exact
					if algorithm == hlo.RngAlgDefault {
						if algorithm = otherwise; algorithm != hlo.RngPhilox {
							class = pass.FastMath // other numbers than those of the engines
						}
					}
					if why := bitsRefused(in, algorithm); why != "" {
						ctx.Missed(in, "not expanded: %s", why)
						continue
					}
					if !ctx.SpendUnder(pass.FastMath, "expand", class) {
						continue
					}
					state, out := in.OperandInstr(0).Shape().WithoutLayout(), in.Shape().Elem(1).WithoutLayout()
					name := fmt.Sprintf("%v %v %v", algorithm, state, out)
					f, ok := made[name]
					if !ok {
						f = bitsComputation(e, algorithm, state, out)
						made[name] = f
					}
					ce := e.Computation(c.ID())
					at := emit.Before(ce, ce.At(in.ID()))
					if err := emit.Replace(ce, in.ID(), at.Call(f, in.Operand(0))); err != nil {
						return m, err
					}
					ctx.Count("expanded", 1)
				}
			}
			return e.Freeze(), nil
		},
	}, nil
}

// bitsRefused says why a generator cannot be written out, "" if it can.
func bitsRefused(in hlo.Instruction, algorithm hlo.RandomAlgorithm) string {
	state, s := in.OperandInstr(0).Shape(), in.Shape()
	if !state.IsArray() || state.Type() != hlo.U64 || state.Rank() != 1 || !state.IsStatic() || !s.IsTuple() || s.NumElems() != 2 {
		return fmt.Sprintf("a state of shape %v", state)
	}
	if n := state.Dim(0); n != 2 && (n != 3 || algorithm == hlo.RngThreeFry) {
		return fmt.Sprintf("a state of %d words", n)
	}
	out := s.Elem(1)
	switch t := out.Type(); {
	case !out.IsArray() || !out.IsStatic():
		return fmt.Sprintf("a result of shape %v", out)
	case !t.IsInteger() && !t.IsFloat() || t.Bits() > 64:
		return fmt.Sprintf("bits as %v", t)
	}
	return ""
}

func bitsComputation(e *hlo.Editor, algorithm hlo.RandomAlgorithm, state, out hlo.Shape) hlo.CompID {
	return emit.Computation(e, algorithm.String(), []hlo.Shape{state.WithDefaultLayout()}, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		word := func(i int64) hlo.InstrID { return at.Reshape(at.SliceAxis(params[0], 0, i, i+1)) }
		words := []hlo.InstrID{word(0), word(1)}
		if state.Dim(0) == 3 {
			words = append(words, word(2))
		}
		var bits hlo.InstrID
		if algorithm == hlo.RngThreeFry {
			var used int64
			bits, used = threeFryArray(at, words[0], words[1], out)
			words[1] = at.Binary(hlo.OpAdd, words[1], at.Int(hlo.U64, used))
		} else {
			ctr := counter{lo: words[1], hi: words[0]} // of two words the key is the high half, too
			if len(words) == 3 {
				ctr.hi = words[2]
			}
			used := philoxCounters(out)
			bits = philoxArray(at, words[0], ctr, out)
			ctr = ctr.plus(at, at.Int(hlo.U64, used))
			if words[1] = ctr.lo; len(words) == 3 {
				words[2] = ctr.hi
			}
		}
		for i := range words {
			words[i] = at.Fill(words[i], 1)
		}
		return at.Tuple(at.Concatenate(0, words...), bits)
	})
}

// counter is a number of 128 bits, in two scalars or arrays of u64.
type counter struct{ lo, hi hlo.InstrID }

// plus adds a number of 64 bits.
func (c counter) plus(at emit.At, n hlo.InstrID) counter {
	lo := at.Binary(hlo.OpAdd, c.lo, n)
	carry := at.Convert(at.Compare(hlo.LT, lo, n), hlo.U64)
	return counter{lo: lo, hi: at.Binary(hlo.OpAdd, c.hi, carry)}
}

// half is the low 32 bits of u64, or the high ones.
func half(at emit.At, x hlo.InstrID, high bool) hlo.InstrID {
	if high {
		x = at.Binary(hlo.OpShiftRightLogical, x, at.Fill(at.Int(hlo.U64, 32), at.Shape(x).Dimensions()...))
	}
	return at.Convert(x, hlo.U32)
}

// joined is u64 of two halves.
func joined(at emit.At, low, high hlo.InstrID) hlo.InstrID {
	high = at.Convert(high, hlo.U64)
	return at.Binary(hlo.OpOr, at.Convert(low, hlo.U64), at.Binary(hlo.OpShiftLeft, high, at.Fill(at.Int(hlo.U64, 32), at.Shape(high).Dimensions()...)))
}

// asType is the low bits of words of u32 or u64 as elements of a type, whatever they mean there.
func asType(at emit.At, words hlo.InstrID, t hlo.PrimitiveType) hlo.InstrID {
	return cast(at, at.Convert(words, unsigned(t)), t)
}

// interleaved puts parts of one shape together so that neighbours along an axis are of one place, and cuts off what is more than n.
func interleaved(at emit.At, axis int, n int64, parts ...hlo.InstrID) hlo.InstrID {
	dims := at.Shape(parts[0]).Dimensions()
	apart := slices.Insert(slices.Clone(dims), axis+1, 1)
	for i := range parts {
		parts[i] = at.Reshape(parts[i], apart...)
	}
	all := at.Concatenate(int64(axis)+1, parts...)
	dims[axis] *= int64(len(parts))
	return at.SliceAxis(at.Reshape(all, dims...), axis, 0, n)
}
