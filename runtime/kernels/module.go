package kernels

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/verifier"
)

// openModule opens the module of a file. One that was lowered in this process is used as it is; one that was read is verified, so that
// kernels may believe what their instructions say.
func openModule(f *bef.File) (any, error) {
	if p, ok := bef.Body[*proto.Program](f, runtime.SectionModule); ok {
		return p, nil
	}
	p, err := proto.DecodeProgram(f.Extension(runtime.SectionModule))
	if err != nil {
		return nil, fmt.Errorf("module section: %w", err)
	}
	if err := verify(p.Module()); err != nil {
		return nil, fmt.Errorf("module section: %w", err)
	}
	return p, nil
}

// verify checks what kernels believe: graphs, shapes, attributes and called computations. Passes may have mixed precisions and layouts,
// and a part of a program need not have all of its devices. Order, asynchrony and aliases are checked where they are used, by the plan.
func verify(m hlo.Module) error {
	return verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true, SkipReplicaGroups: true, SkipShardingDeviceNumbers: true,
		Levels: verifier.LevelStructure | verifier.LevelShape | verifier.LevelLayout}).Err()
}

// Module returns the module that a program was lowered from, as lowering saw it: constants of its functions are elided, because their
// values are in the program's constants. It reports false for programs that were not lowered from HLO.
func Module(p *runtime.Program) (hlo.Module, bool) {
	program, ok := p.Module().(*proto.Program)
	if !ok {
		return hlo.Module{}, false
	}
	return program.Module(), true
}

// Instruction is the instruction of the program's module that a kernel was lowered from. It reports false for copies that only the plan
// knows of.
func Instruction(p *runtime.Program, w runtime.Work) (hlo.Instruction, bool) {
	return instructionByID(p, w.Instr)
}

// UpdateInstruction is the asynchronous update of the program's module that was executed.
func UpdateInstruction(p *runtime.Program, u runtime.Update) (hlo.Instruction, bool) {
	return instructionByID(p, u.Instr)
}

// KernelInstruction is Instruction for kernel i of a function of the program.
func KernelInstruction(f *runtime.Function, p *runtime.Program, i int) (hlo.Instruction, bool) {
	return instructionByID(p, f.KernelInstr(i))
}

func instructionByID(p *runtime.Program, id int64) (hlo.Instruction, bool) {
	program, ok := p.Module().(*proto.Program)
	if !ok || id < 0 {
		return hlo.Instruction{}, false
	}
	return program.Instruction(id)
}

// Subject makes a binding be about an instruction of a module in memory, for kernels outside of any program.
func Subject(b *runtime.Binding, m hlo.Module, in hlo.Instruction) *runtime.Binding {
	return b.WithModule(subject{m, in})
}

type subject struct {
	m  hlo.Module
	in hlo.Instruction
}

// instructionOf finds the instruction that a kernel is, by the id in its only attribute.
func instructionOf(b *runtime.Binding) (subject, error) {
	switch m := b.Module().(type) {
	case subject:
		return m, nil
	case *proto.Program:
		id, err := b.Int64Attr(0)
		if err != nil {
			return subject{}, err
		}
		in, ok := m.Instruction(id)
		if !ok {
			return subject{}, fmt.Errorf("kernel %s names instruction %#x, which the module does not have", b.Kernel, id)
		}
		return subject{m.Module(), in}, nil
	}
	return subject{}, fmt.Errorf("kernel %s needs a module section: files of older versions have none, so lower or assemble the program again", b.Kernel)
}

// mayShare reports whether a kernel works if its output out is in the memory of its input in.
func mayShare(b *runtime.Binding, out, in int) bool {
	if b.NumAttrs() == 0 {
		return true // a copy
	}
	x, err := instructionOf(b)
	return err == nil && slices.ContainsFunc(analysis.Shareable(x.m, x.in), func(s analysis.Sharing) bool { return s.Result == out && s.Operand == in })
}
