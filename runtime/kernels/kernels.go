// Package kernels holds the kernels that programs run on: fast ones for HLO ops, an adapter that lends hlo/eval's meaning to every op
// without one, and the tfrt.* kernels of host programs.
//
// An HLO kernel is named hlo.<opcode> and carries the id of an instruction of the program's module, which has been verified by then. It is
// bound once, when a program is loaded: the first fast implementation that accepts the instruction on this processor is taken, else the
// adapter. That choice is made in [choose] and nowhere else.
package kernels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime"
)

// Register adds every HLO kernel to the registry.
func Register(reg *runtime.Registry) {
	reg.Modules(runtime.Modules{Open: openModule, MayShare: mayShare})
	reg.Family(runtime.Family{
		Names: func() (names []string) {
			for op := range hlo.Opcodes {
				if name := kernelPrefix + op.String(); hasTensorKernel(op, name) {
					names = append(names, name)
				}
			}
			return names
		},
		Find: func(name string) (runtime.TensorBinder, bool) {
			mnemonic, ok := strings.CutPrefix(name, kernelPrefix)
			op, known := hlo.OpcodeByName(mnemonic)
			if !ok || !known || !hasTensorKernel(op, name) {
				return nil, false
			}
			return func(b *runtime.Binding) (runtime.Bound, error) { return bind(reg, op, b) }, true
		},
	})
}

// kernelPrefix stands before the mnemonic of an op in the name of its kernel.
const kernelPrefix = "hlo."

// hasTensorKernel reports whether op is computed by a kernel of this package, which the runtime does not do itself.
func hasTensorKernel(op hlo.Opcode, name string) bool {
	return !hlo.Info(op).Traits.Has(hlo.TraitForwards) && !slices.Contains(runtime.TensorControlKernels(), name)
}

// site is one kernel of a program, as its binder sees it.
type site struct {
	m   hlo.Module
	in  hlo.Instruction
	b   *runtime.Binding
	reg *runtime.Registry // where custom-calls are looked up, may be nil
}

// shape is the shape of operand i.
func (s *site) shape(i int) hlo.Shape { return s.in.OperandInstr(i).Shape() }

// chooser makes a fast implementation for a site, or says that it has none for it.
type chooser func(s *site) (runtime.Bound, bool)

func bind(reg *runtime.Registry, op hlo.Opcode, b *runtime.Binding) (runtime.Bound, error) {
	if op == hlo.OpCopy && b.NumAttrs() == 0 {
		return moveBytes(b)
	}
	x, err := instructionOf(b)
	if err != nil {
		return runtime.Bound{}, err
	}
	if x.in.Opcode() != op {
		return runtime.Bound{}, fmt.Errorf("kernel %s names %s, which is %v", b.Kernel, x.in.Name(), x.in.Opcode())
	}
	if err := checkBinding(x.in, b); err != nil {
		return runtime.Bound{}, err
	}
	return choose(&site{m: x.m, in: x.in, b: b, reg: reg})
}

// choose is the one place where an implementation is picked.
func choose(s *site) (runtime.Bound, error) {
	if s.reg != nil && s.in.Opcode() == hlo.OpCustomCall {
		target, config := hlo.AttrsOf[hlo.CustomCallAttrs](s.in).Target, ""
		if c := s.in.Common(); c != nil {
			config = c.BackendConfig
		}
		if bound, known, err := s.reg.BindCustomCall(target, config, s.b); known {
			return bound, err
		}
	}
	if bound, ok := chooseFast(s); ok {
		return bound, nil
	}
	return evaluated(s), nil
}

func chooseFast(s *site) (runtime.Bound, bool) {
	if !hasFixedSizes(s.in) {
		return runtime.Bound{}, false
	}
	if analysis.SameBytes(s.in) && s.b.InPlace(0, 0) || fillsNothing(s.in) {
		return runtime.Bound{}, true
	}
	for _, c := range fast[s.in.Opcode()] {
		if bound, ok := c(s); ok {
			if bound.Code == nil {
				bound.Code, bound.CodeDiffers = codeFor(s)
			}
			return bound, true
		}
	}
	return runtime.Bound{}, false
}

// hasFixedSizes reports whether the sizes of all that in reads and writes are known.
func hasFixedSizes(in hlo.Instruction) bool {
	for o := range in.Operands() {
		if !o.Shape().IsStatic() {
			return false
		}
	}
	return in.Shape().IsStatic()
}

// fillsNothing reports whether in computes an array without elements, and does nothing else.
func fillsNothing(in hlo.Instruction) bool {
	return in.Shape().IsArray() && in.Shape().NumElements() == 0 && in.NumCallees() == 0 &&
		!hlo.Info(in.Opcode()).Traits.Has(hlo.TraitSideEffect) && in.Opcode() != hlo.OpCustomCall
}

// checkBinding compares the registers that the plan gives the kernel with what its instruction says, so that no kernel needs to doubt its
// buffers.
func checkBinding(in hlo.Instruction, b *runtime.Binding) error {
	var room [4]hlo.Shape
	want := room[:0]
	for i := range in.NumOperands() {
		want = appendLeaves(want, in.OperandInstr(i).Shape())
	}
	if err := checkTypes("operand", want, b.In); err != nil {
		return fmt.Errorf("kernel %s: %w", b.Kernel, err)
	}
	if err := checkTypes("result", appendLeaves(want[:0], in.Shape()), b.Out); err != nil {
		return fmt.Errorf("kernel %s: %w", b.Kernel, err)
	}
	return nil
}

func appendLeaves(to []hlo.Shape, s hlo.Shape) []hlo.Shape {
	if !s.IsTuple() {
		return append(to, s)
	}
	for _, leaf := range s.Leaves {
		to = append(to, leaf)
	}
	return to
}

func checkTypes(what string, want []hlo.Shape, got []runtime.TensorType) error {
	if len(want) != len(got) {
		return fmt.Errorf("the instruction has %d %s leaves, the plan %d", len(want), what, len(got))
	}
	for i, leaf := range want {
		s, g := leaf.InMemory(), got[i]
		same := uint8(s.Type()) == g.Type && s.Rank() == len(g.Dims) && s.ByteSize() == g.Bytes
		for a := 0; same && a < len(g.Dims); a++ {
			same = s.Dim(a) == g.Dims[a]
		}
		if !same {
			return fmt.Errorf("%s leaf %d is %v, the plan has type %d%v of %d bytes", what, i, leaf, g.Type, g.Dims, g.Bytes)
		}
	}
	return nil
}
