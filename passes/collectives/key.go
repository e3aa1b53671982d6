// Package collectives holds the passes about ops that communicate: they combine, fold, reorder, simplify and decompose them.
//
//	file                what is in it
//	key.go              what two collectives must have in common to become one
//	device.go           values that depend on the device alone, computed for each
//	replicated.go       values that are the same on every device
//
// Every other file is a pass.
package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// groupKey is the frontend attribute that says which collectives may be merged: those with the same value.
const groupKey = "collective_group_key"

// keyOf is the value of groupKey, "" without one.
func keyOf(in hlo.Instruction) string {
	if c := in.Common(); c != nil {
		v, _ := c.FrontendAttributes.Get(groupKey)
		return v
	}
	return ""
}

// facts are the attributes that collectives share.
type facts struct {
	groups    *hlo.ReplicaGroups
	channel   hlo.OptInt
	global    bool
	constrain bool
	dims      []int64
	pairs     [][]int64
	reducer   reducer // of those that reduce
}

// reducer is what a collective folds values with: an op on elements of a type. The zero value is none, or one that is not an op.
type reducer struct {
	op   hlo.Opcode
	elem hlo.PrimitiveType
	ok   bool
}

// factsOf reads the attributes of a collective, or of the start of one.
func factsOf(m hlo.Module, in hlo.Instruction) facts { return factsFrom(m.MustComputation, in) }

// factsFrom is factsOf where callee finds computations.
func factsFrom(callee func(hlo.CompID) hlo.Computation, in hlo.Instruction) (f facts) {
	switch a := in.Attrs().(type) {
	case *hlo.AllReduceAttrs:
		f = facts{groups: a.ReplicaGroups, channel: a.ChannelID, global: a.UseGlobalDeviceIDs, constrain: a.ConstrainLayout}
	case *hlo.ReduceScatterAttrs:
		f = facts{groups: a.ReplicaGroups, channel: a.ChannelID, global: a.UseGlobalDeviceIDs, constrain: a.ConstrainLayout, dims: a.Dimensions}
	case *hlo.AllGatherAttrs:
		f = facts{groups: a.ReplicaGroups, channel: a.ChannelID, global: a.UseGlobalDeviceIDs, constrain: a.ConstrainLayout, dims: a.Dimensions}
	case *hlo.AllToAllAttrs:
		f = facts{groups: a.ReplicaGroups, channel: a.ChannelID, constrain: a.ConstrainLayout, dims: a.Dimensions}
	case *hlo.CollectiveBroadcastAttrs:
		f = facts{groups: a.ReplicaGroups, channel: a.ChannelID}
	case *hlo.CollectivePermuteAttrs:
		f = facts{channel: a.ChannelID, pairs: a.SourceTargetPairs}
	}
	if in.NumCallees() == 1 && !hlo.IsAsync(in.Opcode()) {
		f.reducer = reducerOf(callee(in.Callee(0)))
	}
	return f
}

// reducerOf recognises a computation that is one commutative op of its two parameters.
func reducerOf(c hlo.Computation) reducer {
	root := c.Root()
	if c.NumParameters() != 2 || root.NumOperands() != 2 || !hlo.Info(root.Opcode()).Traits.Has(hlo.TraitCommutative) ||
		root.OperandInstr(0).Opcode() != hlo.OpParameter || root.OperandInstr(1).Opcode() != hlo.OpParameter || root.Operand(0) == root.Operand(1) {
		return reducer{}
	}
	return reducer{op: root.Opcode(), elem: root.Shape().Type(), ok: true}
}

// alike reports whether two collectives of one kind run between the same devices in the same way.
func alike(a, b hlo.Instruction, fa, fb facts) bool {
	return a.Opcode() == b.Opcode() && keyOf(a) == keyOf(b) && fa.channel.Set == fb.channel.Set && fa.global == fb.global &&
		fa.constrain == fb.constrain && hlo.EqualAttr(fa.groups, fb.groups) && slices.EqualFunc(fa.pairs, fb.pairs, slices.Equal[[]int64]) &&
		fa.reducer.ok == fb.reducer.ok && fa.reducer.op == fb.reducer.op
}

// lists are the groups as lists; false when there are none, which means all devices in one.
func (f facts) lists() ([][]int64, bool) {
	if f.groups == nil {
		return nil, false
	}
	g := f.groups.Listed()
	if g == nil || len(g.Lists) == 0 {
		return nil, false
	}
	return g.Lists, true
}

// isCollective reports whether in communicates, or begins to; what ends it does not count.
func isCollective(in hlo.Instruction) bool {
	t := hlo.Info(in.Opcode()).Traits
	return t.Has(hlo.TraitCollective) && !t.Has(hlo.TraitAsyncDone)
}

// soleUser reports whether nothing but one instruction uses in, and what.
func soleUser(in hlo.Instruction) (hlo.Instruction, bool) {
	if in.IsRoot() || in.UserCount() != 1 || in.NumControlSuccessors() > 0 {
		return hlo.Instruction{}, false
	}
	for u := range in.Users() {
		return u, true
	}
	return hlo.Instruction{}, false
}
