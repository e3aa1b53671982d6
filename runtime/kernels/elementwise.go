package kernels

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// sameOrder reports whether a bitcast keeps the row-major order of the elements and their type.
func sameOrder(in hlo.Instruction) bool {
	return analysis.SameBytes(in) && in.Shape().Type() == in.OperandInstr(0).Shape().Type()
}

// copyBytes serves whatever keeps the bytes of its operand.
func copyBytes(s *site) (runtime.Bound, bool) {
	same := analysis.SameBytes(s.in)
	if s.in.Opcode() == hlo.OpBitcastConvert {
		from, to := s.shape(0).Type(), s.in.Shape().Type()
		same = from.Bits() >= 8 && to.Bits() >= 8 && to != hlo.PRED && from != hlo.PRED
	}
	if !same || len(s.b.Out) != 1 {
		return runtime.Bound{}, false
	}
	return copyOf(s.b.Out[0].Bytes), true
}

func copyOf(bytes int64) runtime.Bound {
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		copy(f.Out(0).Data[lo:hi], f.In(0).Data[lo:hi])
	})
	bound := loop.bound(int(bytes), 1<<18)
	bound.Small = smallCopy(int(bytes))
	bound.Code = copyCode
	return bound
}

// moveBytes is a copy that is no instruction: the plan wants a value in another place.
func moveBytes(b *runtime.Binding) (runtime.Bound, error) {
	if len(b.In) != 1 || len(b.Out) != 1 || !b.In[0].Equal(b.Out[0]) {
		return runtime.Bound{}, fmt.Errorf("kernel %s without an instruction copies %v to %v", b.Kernel, b.In, b.Out)
	}
	if b.InPlace(0, 0) || b.Out[0].Bytes == 0 {
		return runtime.Bound{}, nil
	}
	return copyOf(b.Out[0].Bytes), nil
}

// elementwise runs one instruction as a tile program, with its operands as inputs.
func elementwise(s *site) (runtime.Bound, bool) {
	if !s.in.Shape().IsArray() {
		return runtime.Bound{}, false
	}
	p, ok := compileRoots(s.m, []hlo.Instruction{s.in}, operandsOf(s.in))
	if !ok {
		return runtime.Bound{}, false
	}
	return runTiles(p), true
}

// operandsOf lists the operands of in, which are arrays, as arguments in order.
func operandsOf(in hlo.Instruction) func(hlo.Instruction) (int, bool) {
	return func(x hlo.Instruction) (int, bool) {
		for i := range in.NumOperands() {
			if in.Operand(i) == x.ID() {
				return i, true
			}
		}
		return 0, false
	}
}

// runTiles runs a program over its whole space, argument i being input i and output i being output i.
func runTiles(p *tile.Program) runtime.Bound {
	bound := boundTiles(p)
	bound.Code = tileCode(p)
	if r, ok := newRunMoves(p); ok {
		bound.Run, bound.Later = r.loop.bound(r.n, r.grain).Run, nil
	}
	return bound
}

func boundTiles(p *tile.Program) runtime.Bound {
	small, registers := smallProgram(p)
	if run, ok := direct(p); ok {
		return runtime.Bound{Run: run, Small: small, Scratch: registers}
	}
	n, grain := p.Len(), p.Grain()
	if n <= grain {
		return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
			p.Run(0, n, (*frameBuffers)(f))
			return nil
		}, Small: small, Later: laterProgram(p), Scratch: registers}
	}
	run := func(f *runtime.TensorFrame, lo, hi int) { p.Run(lo, hi, (*frameBuffers)(f)) }
	return newParallelLoop(run).bound(n, grain)
}

// frameBuffers is a frame as a tile program sees it.
type frameBuffers runtime.TensorFrame

func (f *frameBuffers) In(i int) []byte  { return (*runtime.TensorFrame)(f).In(i).Data }
func (f *frameBuffers) Out(i int) []byte { return (*runtime.TensorFrame)(f).Out(i).Data }

// fusedLoop runs a fusion whose body is elementwise but for data movement that a tile program can see through.
func fusedLoop(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok {
		return runtime.Bound{}, false
	}
	roots, ok := fusionRoots(c)
	if !ok {
		return runtime.Bound{}, false
	}
	p, ok := compileRoots(s.m, roots, arrayParameters)
	if !ok {
		return runtime.Bound{}, false
	}
	return runTiles(p), true
}

// fusionRoots are the arrays that a computation returns, if they have as many elements each.
func fusionRoots(c hlo.Computation) ([]hlo.Instruction, bool) {
	root := c.Root()
	if root.Shape().IsArray() {
		return []hlo.Instruction{root}, true
	}
	if root.Opcode() != hlo.OpTuple || root.NumOperands() == 0 {
		return nil, false
	}
	var roots []hlo.Instruction
	for o := range root.Operands() {
		if !o.Shape().IsArray() || o.Shape().NumElements() != root.OperandInstr(0).Shape().NumElements() {
			return nil, false
		}
		roots = append(roots, o)
	}
	return roots, true
}

// arrayParameters makes the parameters inputs, if no parameter before is a tuple; a fusion with tuples is not compiled.
func arrayParameters(in hlo.Instruction) (int, bool) {
	n, ok := in.ParameterNumber()
	if !ok || !in.Shape().IsArray() {
		return 0, false
	}
	for i := range int(n) {
		if !in.Computation().Parameter(i).Shape().IsArray() {
			return 0, false
		}
	}
	return int(n), true
}
