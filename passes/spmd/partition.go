package spmd

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// partitioner makes the program of one device out of a module.
type partitioner struct {
	ctx      *pass.Context
	m        hlo.Module
	ed       *hlo.Editor
	world    *World
	cost     Cost
	replicas int64
	channels int64 // the largest channel id in use
	binaries map[binaryKey]hlo.CompID
}

type binaryKey struct {
	op hlo.Opcode
	t  hlo.PrimitiveType
}

// scope is a computation of the whole program that is being partitioned: what has become of its instructions.
type scope struct {
	p      *partitioner
	d      *device
	c      hlo.Computation
	values map[hlo.InstrID][]*value // the arrays of each, in order
	// chains are results that an op hands to its other half, such as of a send to its done: tuples that must not be taken apart.
	chains map[hlo.InstrID]hlo.Value
	parts  map[hlo.InstrID]*value // slices that were made together with another one
}

func (p *partitioner) newScope(d *device, c hlo.Computation) *scope {
	return &scope{p: p, d: d, c: c, values: make(map[hlo.InstrID][]*value), chains: make(map[hlo.InstrID]hlo.Value), parts: make(map[hlo.InstrID]*value)}
}

// handler partitions instructions of an op. want is how the arrays of the result should be tiled; what it returns may be tiled otherwise.
type handler func(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error)

// handlers is indexed by opcode. Files of op families fill it; ops without one are partitioned by their factors.
var handlers [hlo.NumOpcodes]handler

// Error is a program that cannot be partitioned.
type Error struct {
	In  hlo.Instruction
	Err error
}

func (e *Error) Error() string {
	return fmt.Sprintf("partitioning %v %%%s: %v", e.In.Opcode(), e.In.Name(), e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// partition rewrites the module for n devices.
func (p *partitioner) partition() (hlo.Module, error) {
	p.cleanAppliedComputations()
	entry := p.m.Entry()
	b := p.ed.Builder(entry.Name())
	s := p.newScope(p.newDevice(b), entry)
	if err := s.entryParameters(); err != nil {
		return p.m, err
	}
	if err := s.body(); err != nil {
		return p.m, err
	}
	root, err := s.entryRoot()
	if err != nil {
		return p.m, err
	}
	id, err := b.Finish(root)
	if err != nil {
		return p.m, err
	}
	p.ed.SetEntry(id)
	p.setConfig(id)
	p.dropUnused()
	return p.ed.Freeze(), nil
}

// body partitions the instructions of a computation whose parameters are known.
func (s *scope) body() error {
	for in := range s.c.PostOrder() {
		if _, done := s.values[in.ID()]; done {
			continue
		}
		values, err := s.instruction(in)
		if err == nil {
			err = s.d.b.Err()
		}
		if err != nil {
			if _, ok := err.(*Error); ok {
				return err
			}
			return &Error{in, err}
		}
		s.values[in.ID()] = values
	}
	return nil
}

func (s *scope) instruction(in hlo.Instruction) ([]*value, error) {
	want, err := s.wanted(in)
	if err != nil {
		return nil, err
	}
	var values []*value
	switch h := handlers[in.Opcode()]; {
	case s.runsByItself(in, want):
		values, err = s.verbatim(in, want)
	case h != nil:
		values, err = h(s, in, want)
	default:
		values, err = s.general(in, want, nil)
	}
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if i < len(want) {
			values[i] = s.d.settle(v, want[i])
		}
	}
	return values, nil
}

// settle brings a result to where it is wanted, and remembers what it was.
func (d *device) settle(x *value, want *Tiling) *value {
	y := d.reshard(x, want)
	if y != x {
		if y.copies == nil {
			y.copies = make(map[string]*value)
		}
		if len(x.t.Unreduced) == 0 {
			y.copies[x.t.key()] = x
		}
	}
	return y
}

// operands are the arrays of all operands, in order.
func (s *scope) operands(in hlo.Instruction) (all []*value) {
	for id := range in.OperandIDs() {
		all = append(all, s.values[id]...)
	}
	return all
}

// wanted is how the arrays of a result should be tiled: as it says, and what says nothing is whole on every device.
func (s *scope) wanted(in hlo.Instruction) ([]*Tiling, error) {
	var manual []int
	var mesh *Mesh
	for _, x := range s.operands(in) {
		if len(x.t.Manual) > 0 {
			manual, mesh = union(manual, x.t.Manual), x.t.Mesh
		}
	}
	if mesh == nil {
		mesh = s.p.world.Main
	}
	tilings, err := s.p.world.leafTilings(in)
	if err != nil {
		return nil, err
	}
	i := 0
	for _, leaf := range in.Shape().Leaves {
		if tilings[i] == nil {
			tilings[i] = replicated(mesh, leaf.Rank())
			tilings[i].Manual = manual
		}
		if tilings[i].Maximal {
			tilings[i] = replicated(mesh, leaf.Rank())
		}
		i++
	}
	return tilings, nil
}

// leafTilings reads the sharding of an instruction: one for each array or token of its shape, nil where nothing is said.
func (w *World) leafTilings(in hlo.Instruction) ([]*Tiling, error) {
	var sharding *hlo.Sharding
	if c := in.Common(); c != nil {
		sharding = c.Sharding
	}
	return w.shapeTilings(in.Shape(), sharding)
}

func (w *World) shapeTilings(s hlo.Shape, sharding *hlo.Sharding) (all []*Tiling, err error) {
	i := 0
	for _, leaf := range s.Leaves {
		one := sharding
		if sharding != nil && sharding.Kind == hlo.ShardingTuple {
			one = nil
			if i < len(sharding.Elements) {
				one = sharding.Elements[i]
			} else if len(sharding.Elements) == 1 {
				one = sharding.Elements[0]
			}
		}
		i++
		var t *Tiling
		if one != nil && leaf.IsArray() {
			if t, err = w.Tiling(one, leaf.Rank()); err != nil {
				break
			}
		}
		all = append(all, t)
	}
	return all, err
}

// commonOf is what an instruction of the new program keeps of an old one's attributes.
func commonOf(in hlo.Instruction) *hlo.Common {
	c := in.Common()
	if c == nil {
		return nil
	}
	k := *c
	k.Sharding, k.ParameterReplication = nil, nil
	k.FrontendAttributes = withoutShardy(c.FrontendAttributes)
	return &k
}

// emit makes an instruction like in, of another shape, with other attributes and operands.
func (s *scope) emit(in hlo.Instruction, shape hlo.Shape, attrs hlo.OpAttrs, operands []hlo.Value) hlo.Value {
	return s.d.b.As(in.Name()).With(commonOf(in)).Emit(hlo.OpSpec{
		Opcode: in.Opcode(), Shape: shape, Attrs: attrs, Operands: operands, Callees: slices.Collect(in.Callees()),
	})
}

// split makes values of the arrays of an instruction.
func (s *scope) split(v hlo.Value, shape hlo.Shape, tilings []*Tiling) (all []*value) {
	i := 0
	var walk func(v hlo.Value, shape hlo.Shape)
	walk = func(v hlo.Value, shape hlo.Shape) {
		if !shape.IsTuple() {
			all = append(all, &value{v: v, shape: shape, t: tilings[i]})
			i++
			return
		}
		for k := range shape.NumElems() {
			walk(s.d.b.Element(v, k), shape.Elem(k))
		}
	}
	walk(v, shape)
	return all
}

// results is split, of what an instruction gives; a chain is kept whole.
func (s *scope) results(in hlo.Instruction, v hlo.Value, tilings []*Tiling) (all []*value) {
	if !isChain(in) {
		return s.split(v, in.Shape(), tilings)
	}
	s.chains[in.ID()] = v
	i := 0
	for _, leaf := range in.Shape().Leaves {
		all = append(all, &value{shape: leaf, t: tilings[i]})
		i++
	}
	return all
}

// isChain reports whether an instruction begins what another one ends.
func isChain(in hlo.Instruction) bool {
	if !in.Shape().IsTuple() {
		return false
	}
	for u := range in.Users() {
		if hlo.Info(u.Opcode()).Traits.Has(hlo.TraitAsyncDone) {
			return true
		}
	}
	return false
}

// rejoined are the operands of an instruction that runs as it is.
func (s *scope) rejoined(in hlo.Instruction, local []*value) (operands []hlo.Value) {
	for o := range in.Operands() {
		n := o.Shape().NumLeaves()
		v, chain := s.chains[o.ID()]
		if !chain {
			v = s.join(o.Shape(), local[:n])
		}
		operands, local = append(operands, v), local[n:]
	}
	return operands
}

// join makes one instruction of arrays: the reverse of split.
func (s *scope) join(shape hlo.Shape, values []*value) hlo.Value {
	v, _ := s.joined(shape, values)
	return v
}

func (s *scope) joined(shape hlo.Shape, values []*value) (hlo.Value, []*value) {
	if !shape.IsTuple() {
		return values[0].v, values[1:]
	}
	elems := make([]hlo.Value, shape.NumElems())
	for k := range elems {
		elems[k], values = s.joined(shape.Elem(k), values)
	}
	return s.d.b.Tuple(elems...), values
}

// shards is the shape of the parts of arrays.
func shards(shape hlo.Shape, tilings []*Tiling) hlo.Shape {
	i := 0
	return mapLeaves(shape, func(leaf hlo.Shape) hlo.Shape {
		t := tilings[i]
		i++
		return t.shard(leaf)
	})
}

// mapLeaves is a shape with other arrays and tokens.
func mapLeaves(s hlo.Shape, f func(hlo.Shape) hlo.Shape) hlo.Shape {
	if !s.IsTuple() {
		return f(s)
	}
	elems := s.Elems()
	for i := range elems {
		elems[i] = mapLeaves(elems[i], f)
	}
	return hlo.MakeTuple(elems...)
}

// binary is the computation of an op on two scalars.
func (p *partitioner) binary(op hlo.Opcode, t hlo.PrimitiveType) hlo.CompID {
	key := binaryKey{op, t}
	if id, ok := p.binaries[key]; ok {
		return id
	}
	b := p.ed.Builder(op.String())
	s := hlo.MakeShape(t).WithDefaultLayout()
	id, err := b.Finish(b.Binary(op, b.Parameter("x", s), b.Parameter("y", s)))
	if err != nil {
		panic(err) // the op is one of those that have an identity of the type
	}
	p.binaries[key] = id
	return id
}
