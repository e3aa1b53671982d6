package native

import (
	"encoding/binary"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// shifts are the instructions that shift all lanes by the same number of places, for lanes of 32 and 64 bits.
var shifts = map[hlo.Opcode][2]amd64.VectorOp{
	hlo.OpShiftLeft:            {amd64.VPSLLD, amd64.VPSLLQ},
	hlo.OpShiftRightLogical:    {amd64.VPSRLD, amd64.VPSRLQ},
	hlo.OpShiftRightArithmetic: {amd64.VPSRAD, amd64.VPSRAQ},
}

// shift appends a shift or rotation by a constant, for which no vector of amounts is needed. Without AVX-512, which rotates in one instruction,
// it is the shorter way by far. It reports false for what is left to the recipe.
func (e *expansion) shift(o *op) bool {
	both, ok := shifts[o.name.Op]
	if !ok || e.lane < 4 || o.name.Mode == vec.Rotating && e.wide {
		return false
	}
	r, amount := vec.FindRecipe(o.name), &e.b.values[o.args[1]]
	if amount.constant == nil || r.In[0].Kind != vec.Whole || r.In[0].Size != e.lane || r.Out.Kind != vec.Whole {
		return false
	}
	var b [8]byte
	copy(b[:], amount.constant[:e.lane])
	by, width := binary.LittleEndian.Uint64(b[:]), uint64(8*e.lane)
	if o.name.Mode == vec.Rotating {
		by %= width
	}
	if by >= width || by == 0 {
		return false
	}
	x := e.operand(r, 0, o.args[0])
	var d int
	if o.name.Mode == vec.Rotating {
		d = e.rotate(x, uint8(by), both[e.lane/8])
	} else {
		d = e.shiftAll(both[e.lane/8], x, uint8(by))
	}
	e.values[o.d] = held{d, form{r.Out.Kind, r.Out.Size, r.Store, map[vec.Operand]int{r.Result: d}}}
	return true
}

func (e *expansion) vectorBits() int {
	if e.wide {
		return 512
	}
	return 256
}

func (e *expansion) shiftAll(o amd64.VectorOp, x int, by uint8) int {
	d := e.register(false)
	e.code = append(e.code, instr{op: o, bits: e.vectorBits(), d: d, y: x, number: by, hasNumber: true})
	return d
}

// rotate turns lanes of 256 bits to the left. By whole bytes it is one instruction, which moves them.
func (e *expansion) rotate(x int, by uint8, left amd64.VectorOp) int {
	if by%8 == 0 {
		var order [16]byte
		for i := range order {
			lane := i / e.lane * e.lane
			order[i] = byte(lane + (i-lane+e.lane-int(by/8))%e.lane)
		}
		d := e.register(false)
		e.code = append(e.code, instr{op: amd64.VPSHUFB, bits: 256, d: d, x: x, from: memory{kind: inPool, index: e.constant(order)}})
		return d
	}
	right := shifts[hlo.OpShiftRightLogical][e.lane/8]
	up, down, d := e.shiftAll(left, x, by), e.shiftAll(right, x, uint8(8*e.lane)-by), e.register(false)
	e.code = append(e.code, instr{op: amd64.VPOR, bits: 256, d: d, x: up, y: down})
	return d
}
