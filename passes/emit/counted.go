package emit

import (
	"math"

	"github.com/gohalo/halo/hlo"
)

// For runs rounds 0 to n-1 of a body over a state, and returns the state after them: body gets the number of the round and the state, and returns
// the next one, of the same shapes. The computations of the loop are called name_condition and name_body.
func (a At) For(name string, n int64, state []hlo.InstrID, body func(at At, i hlo.InstrID, state []hlo.InstrID) []hlo.InstrID) []hlo.InstrID {
	e, t := a.C.Editor(), hlo.S32
	if n > math.MaxInt32 {
		t = hlo.S64
	}
	init := a.Tuple(append([]hlo.InstrID{a.Int(t, 0)}, state...)...)
	shape := a.Shape(init)
	condition := Computation(e, name+"_condition", []hlo.Shape{shape}, func(at At, params []hlo.InstrID) hlo.InstrID {
		return at.Compare(hlo.LT, at.Element(params[0], 0), at.Int(t, n))
	})
	step := Computation(e, name+"_body", []hlo.Shape{shape}, func(at At, params []hlo.InstrID) hlo.InstrID {
		i := at.Element(params[0], 0)
		next := at.Binary(hlo.OpAdd, i, at.Int(t, 1))
		now := make([]hlo.InstrID, len(state))
		for k := range now {
			now[k] = at.Element(params[0], k+1)
		}
		return at.OpOf(hlo.OpTuple, shape, nil, append([]hlo.InstrID{next}, body(at, i, now)...)...)
	})
	loop := a.While(condition, step, init)
	after := make([]hlo.InstrID, len(state))
	for k := range after {
		after[k] = a.Element(loop, k+1)
	}
	return after
}
