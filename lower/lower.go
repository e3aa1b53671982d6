// Package lower turns an hlo.Module into a bef.File of tensor functions.
//
//	hlo.Computation ──order──▶ instructions ──flatten──▶ ops on array leaves ──plan──▶ storage, offsets ──emit──▶ BEF function
//
// Tuples do not survive: parameters, results and operands are flattened leaf by leaf into registers, and get-tuple-element costs
// nothing. Arrays are dense and row-major whatever their layouts say. Each instruction that computes becomes one kernel named
// hlo.<opcode>, whose attribute is the instruction's id in the module, which the file holds too; the kernel's implementation is chosen when
// the file is loaded. Calls,
// loops, branches and asynchronous chains become control kernels over functions of the same file. Native pairs (copy-start and so on) that passes
// have left are chains too (native.go).
//
// The buffer plan gives every register a place: the caller's memory, the constants, or an offset in the function's frame. Frames
// of callees lie inside the caller's frame, so one allocation serves an execution.
//
// Instructions that cannot be lowered are refused with an [Error] that names the opcode and the position.
package lower

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// Error says what could not be lowered, and why.
type Error struct {
	Opcode      hlo.Opcode
	Instruction string
	File        string
	Position    hlo.Position
	Msg         string
}

func (e *Error) Error() string {
	at := ""
	if e.Position.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d: ", e.File, e.Position.Line, e.Position.Col)
	}
	return fmt.Sprintf("%serror: cannot lower %v %s: %s", at, e.Opcode, e.Instruction, e.Msg)
}

// Module lowers m. The module must be verified, and should have been through the `cpu` pipeline, which rewrites what has no kernel.
// The result is deterministic: equal modules give equal files.
func Module(ctx context.Context, m hlo.Module) (*bef.File, error) {
	m = withChains(m)
	l := newLowering(m)
	entry, err := l.function(ctx, m.Entry().ID(), plainCall, hlo.Shape{})
	if errors.Is(err, errStates) {
		l = newLowering(m)
		l.states = true
		entry, err = l.function(ctx, m.Entry().ID(), plainCall, hlo.Shape{})
	}
	if err != nil {
		return nil, err
	}
	return l.file(entry)
}

func newLowering(m hlo.Module) *lowering {
	l := &lowering{m: m, b: bef.NewBuilder(), program: proto.NewProgram(m), fns: make(map[fnKey]*function), forms: make(map[formsKey]*forms), chains: make(map[hlo.CompID]int), ordered: make(map[hlo.CompID]bool),
		aliases: aliases(m)}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			l.hasChains = l.hasChains || in.Opcode() == hlo.OpAsyncStart
		}
	}
	return l
}

// lowering is the state of one call of Module.
type lowering struct {
	m      hlo.Module
	b      *bef.Builder
	fns    map[fnKey]*function
	order  []*function // callees first
	consts constants

	aliases []runtime.Alias

	forms     map[formsKey]*forms
	hasChains bool
	states    bool // asynchronous values bring the operands that are bound; see form.go

	program *proto.Program // the ids of instructions
	known   *analysis.Costs
	effects *analysis.SideEffects
	ordered map[hlo.CompID]bool // isOrderedWithin
	chains  map[hlo.CompID]int  // begunIn of computations

	kernelNames [hlo.NumOpcodes]string // as far as they were asked for
	places      []bef.Location         // for positions to come
}

// fnKey distinguishes versions of a computation: a loop body is compiled for results that overwrite arguments, and parameters may have
// different forms.
type fnKey struct {
	comp        hlo.CompID
	conv        convention
	result, ins string // their forms
}

// convention says who owns the memory of a function's arguments and results.
type convention uint8

const (
	plainCall convention = iota // arguments are read-only; results go to other memory
	loopBody                    // result i is the memory of argument i
)

// formatVersion changes when files that this package writes stop being readable by older versions of package runtime.
const formatVersion = "3"

// file puts the finished functions and the plan together.
func (l *lowering) file(entry *function) (*bef.File, error) {
	plan := &runtime.BufferPlan{}
	for _, f := range l.order {
		plan.Functions = append(plan.Functions, f.plan)
	}
	l.b.Extensions = []bef.Section{
		bef.Producer{Tool: "halo", Version: formatVersion, Module: l.m.Name(), Layout: "G2"}.Section(),
		{ID: runtime.SectionBufferPlan, Body: plan, Packs: true},
		{ID: runtime.SectionConstants, Align: runtime.ConstantAlign, Data: l.consts.data},
		{ID: runtime.SectionMetadata, Body: l.metadata(entry), Packs: true},
		{ID: runtime.SectionModule, Body: l.withoutConstants(), Packs: true},
	}
	return l.b.File()
}

func (l *lowering) metadata(entry *function) *runtime.Metadata {
	cfg := l.m.Config()
	md := &runtime.Metadata{
		Module: l.m.Name(), Entry: int(entry.id),
		Replicas: int(max(cfg.ReplicaCount, 1)), Partitions: int(max(cfg.NumPartitions, 1)),
	}
	c := l.m.Entry()
	for _, id := range c.Parameters() {
		p, _ := c.At(id)
		md.Params = appendLeaves(md.Params, p.Name(), p.Shape())
	}
	md.Results = appendLeaves(nil, c.Root().Name(), c.Root().Shape())
	md.Aliases = l.aliases
	return md
}

func appendLeaves(to []runtime.Leaf, name string, s hlo.Shape) []runtime.Leaf {
	to = slices.Grow(to, s.NumLeaves())
	for index, leaf := range s.Leaves {
		n := name
		if len(index) > 0 {
			n += index.String()
		}
		b := leaf.InMemory()
		to = append(to, runtime.Leaf{Name: n, Shape: string(leaf.AppendText(nil, false)), Type: uint8(b.Type()), Dims: b.Dimensions(), Bytes: b.ByteSize()})
	}
	return to
}
