package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOpTable holds what columns promise of each other.
func TestOpTable(t *testing.T) {
	for op := range Opcodes {
		r := Info(op)
		assert.Equal(t, op, r.Op)
		assert.NotEmpty(t, r.Doc, op)
		assert.NotNil(t, r.Shape, op)
		if p := r.Pair; !p.IsZero() {
			assert.Contains(t, []Opcode{p.Plain, p.Start, p.Done}, op)
			for _, other := range []Opcode{p.Start, p.Done} {
				assert.Equal(t, p, Info(other).Pair, "%v and %v are of one pair", op, other)
			}
			assert.True(t, Info(p.Done).Traits.Has(TraitAsyncDone), p.Done)
			assert.Equal(t, p.Plain != OpInvalid, Info(p.Start).Traits.Has(TraitAsyncStart), p.Start)
		}
		named := r.Traits&(TraitAsyncStart|TraitAsyncDone) != 0 && !IsAsync(op)
		assert.False(t, named && r.Pair.IsZero(), "%v begins or ends work and is in no pair", op)
		if r.HasAccuracy {
			assert.Equal(t, WorkFunctions, r.Work, "%v is computed to an accuracy", op)
		}
		if r.Traits.Has(TraitElementwise) {
			assert.Contains(t, []Work{WorkElements, WorkFunctions}, r.Work, op)
		} else {
			assert.Zero(t, r.Complex, "%v is not computed element by element", op)
		}
		if r.Traits.Has(TraitForwards) || r.Traits.Has(TraitAsyncDone) {
			assert.Equal(t, WorkNone, r.Work, op)
		}
		if r.Match == MatchOwn {
			assert.Empty(t, r.MatchRule, "%v is not compared", op)
		}
	}
}

func TestNativeAsync(t *testing.T) {
	var native []Opcode
	for op := range Opcodes {
		if HasNativeAsync(op) {
			native = append(native, op)
		}
		// The words that sugar would use are taken exactly for these.
		_, start := OpcodeByName(op.String() + "-start")
		_, done := OpcodeByName(op.String() + "-done")
		assert.Equal(t, start || done, HasNativeAsync(op), op)
	}
	assert.Equal(t, []Opcode{OpAllGather, OpAllReduce, OpCollectivePermute, OpCopy, OpRecv, OpSend}, native)
}
