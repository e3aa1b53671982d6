package eval

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Control flow, calls and the ops that only order or group.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpParameter:       argument,
		hlo.OpOptBarrier:      argument,
		hlo.OpDomain:          argument,
		hlo.OpAddDependency:   argument,
		hlo.OpAfterAll:        afterAll,
		hlo.OpTuple:           tuple,
		hlo.OpGetTupleElement: tupleElement,
		hlo.OpCall:            call,
		hlo.OpFusion:          call,
		hlo.OpWhile:           while,
		hlo.OpConditional:     conditional,
	})
}

func argument(c *Call) (*hlo.Literal, error) {
	if len(c.Args) == 0 {
		return nil, fmt.Errorf("it has no value here")
	}
	return c.Args[0], nil
}

func afterAll(*Call) (*hlo.Literal, error) { return token() }

func token() (*hlo.Literal, error) { return hlo.NewLiteral(hlo.MakeToken(), nil) }

func tuple(c *Call) (*hlo.Literal, error) { return hlo.NewTupleLiteral(c.Args...), nil }

func tupleElement(c *Call) (*hlo.Literal, error) {
	i := hlo.AttrsOf[hlo.TupleElementAttrs](c.In).Index
	if i < 0 || i >= int64(c.Args[0].NumParts()) {
		return nil, fmt.Errorf("index %d of a tuple of %d", i, c.Args[0].NumParts())
	}
	return c.Args[0].Part(int(i)), nil
}

func call(c *Call) (*hlo.Literal, error) { return c.run(0, c.Args...) }

// while runs body (callee 0) as long as the condition (callee 1) holds.
func while(c *Call) (*hlo.Literal, error) {
	state := c.Args[0]
	for {
		again, err := c.run(1, state)
		if err != nil {
			return nil, err
		}
		if b := again.Bytes(); len(b) != 1 || b[0] == 0 {
			return state, nil
		}
		if state, err = c.run(0, state); err != nil {
			return nil, err
		}
	}
}

// conditional runs branch 0 for true, or the branch of the index; an index out of range takes the last.
func conditional(c *Call) (*hlo.Literal, error) {
	i, n := 0, int64(c.In.NumCallees())
	switch v, ok := c.Args[0].ScalarInt(); {
	case c.Args[0].Shape().Type() == hlo.PRED:
		i = 1 - int(min(v, 1))
	case !ok || v < 0 || v >= n:
		i = int(n - 1)
	default:
		i = int(v)
	}
	if i >= c.In.NumCallees() || 1+i >= len(c.Args) {
		return nil, fmt.Errorf("no branch %d", i)
	}
	return c.run(i, c.Args[1+i])
}
