package spmd

import (
	"bytes"
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Boundary is how the arrays that a caller sees are split over the devices of a partitioned program.
type Boundary struct {
	Params, Results []Leaf
	n               int64
}

// Leaf is an array of the caller, and how it is tiled.
type Leaf struct {
	Shape  hlo.Shape // of the whole
	Tiling *Tiling
}

// NewBoundary reads it off a program before and after it was partitioned.
func NewBoundary(whole, local hlo.Module) (*Boundary, error) {
	n := max(1, local.Config().NumPartitions)
	w := NewWorld(n, shardings(local))
	b := &Boundary{n: n}
	for i := range whole.Entry().NumParameters() {
		leaves, err := w.leavesOf(whole.Entry().Parameter(i).Shape(), local.Entry().Parameter(i))
		if err != nil {
			return nil, fmt.Errorf("parameter %d: %w", i, err)
		}
		b.Params = append(b.Params, leaves...)
	}
	var err error
	if b.Results, err = w.leavesOf(whole.Entry().Root().Shape(), local.Entry().Root()); err != nil {
		return nil, fmt.Errorf("the result: %w", err)
	}
	return b, nil
}

// leavesOf pairs the arrays of a shape with the tilings of an instruction whose result is their parts.
func (w *World) leavesOf(s hlo.Shape, in hlo.Instruction) (all []Leaf, err error) {
	tilings, err := w.leafTilings(in)
	if err != nil {
		return nil, err
	}
	var parts []hlo.Shape
	for _, leaf := range in.Shape().Leaves {
		parts = append(parts, leaf)
	}
	i := 0
	for _, leaf := range s.Leaves {
		t := tilings[i]
		if t == nil || t.Maximal {
			t = replicated(w.Main, leaf.Rank())
		}
		if leaf.IsArray() {
			if got := t.shard(leaf); !got.EqualIgnoringLayout(parts[i]) {
				err = fmt.Errorf("a part of %v has shape %v, want %v by its sharding %v", leaf, parts[i], got, t)
			}
			all = append(all, Leaf{leaf, t})
		}
		i++
		if err != nil {
			break
		}
	}
	return all, err
}

// corner is where the tile of a device begins, and its size without padding.
func (l *Leaf) corner(device int64) (from, size []int64) {
	t := l.Tiling
	position := device
	for p := range t.Mesh.N {
		if t.Mesh.Order != nil && t.Mesh.Order[p] == device {
			position = p
		}
	}
	part := t.shard(l.Shape)
	for k, axes := range t.Dims {
		at := min(t.Mesh.coordinate(position, axes)*part.Dim(k), l.Shape.Dim(k))
		from = append(from, at)
		size = append(size, min(part.Dim(k), l.Shape.Dim(k)-at))
	}
	return from, size
}

// Part is what a device gets of an array. Padding is zero.
func (l *Leaf) Part(whole *hlo.Literal, device int64) (*hlo.Literal, error) {
	s := l.Tiling.shard(l.Shape)
	if s.EqualIgnoringLayout(l.Shape) {
		return whole, nil
	}
	from, size := l.corner(device)
	out := make([]byte, s.ByteSize())
	copyBox(out, s.Dimensions(), make([]int64, s.Rank()), whole.Bytes(), l.Shape.Dimensions(), from, size, s.Type().ByteSize())
	return hlo.NewLiteral(s.WithDefaultLayout(), out)
}

// Whole puts the parts of all devices together. Devices that have the same part must have the same bits.
func (l *Leaf) Whole(parts []*hlo.Literal) (*hlo.Literal, error) {
	s := l.Tiling.shard(l.Shape)
	width := s.Type().ByteSize()
	out := make([]byte, l.Shape.ByteSize())
	first := make(map[int64]int)
	for d, p := range parts {
		from, size := l.corner(int64(d))
		key := int64(0)
		for k := range from {
			key = key*(l.Shape.Dim(k)+1) + from[k]
		}
		bytesOf := int64(width)
		for _, n := range size {
			bytesOf *= n
		}
		if bytesOf <= 0 {
			continue // nothing but padding
		}
		own := make([]byte, bytesOf)
		copyBox(own, size, make([]int64, len(size)), p.Bytes(), s.Dimensions(), make([]int64, len(size)), size, width)
		if other, seen := first[key]; seen {
			theirs := make([]byte, len(own))
			copyBox(theirs, size, make([]int64, len(size)), out, l.Shape.Dimensions(), from, size, width)
			if !bytes.Equal(own, theirs) {
				return nil, fmt.Errorf("devices %d and %d have the same part of it, with different bits", other, d)
			}
			continue
		}
		first[key] = d
		copyBox(out, l.Shape.Dimensions(), from, own, size, make([]int64, len(size)), size, width)
	}
	return hlo.NewLiteral(l.Shape.WithDefaultLayout(), out)
}

// copyBox copies a box of some size between places in row-major arrays.
func copyBox(dst []byte, dstDims, to []int64, src []byte, srcDims, from, size []int64, width int) {
	if len(size) == 0 {
		copy(dst[:width], src[:width])
		return
	}
	last := len(size) - 1
	for _, n := range size {
		if n <= 0 {
			return
		}
	}
	index := make([]int64, len(size))
	for {
		d, s := int64(0), int64(0)
		for k := range size {
			d = d*dstDims[k] + to[k] + index[k]
			s = s*srcDims[k] + from[k] + index[k]
		}
		n := size[last] * int64(width)
		copy(dst[d*int64(width):][:n], src[s*int64(width):][:n])
		k := last - 1
		for ; k >= 0; k-- {
			if index[k]++; index[k] < size[k] {
				break
			}
			index[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// IsOneDevices reports whether a program is that of one device already: it has collectives, or asks which device it runs on, and nothing in it
// says how to split arrays but at its boundary.
func IsOneDevices(m hlo.Module) bool { return !IsWhole(m) && communicates(m) }

// IsWhole reports whether something in a program says how to split its arrays, elsewhere than at its boundary: it waits to be partitioned.
func IsWhole(m hlo.Module) bool { return anyInstruction(m, splits) }

func splits(in hlo.Instruction) bool {
	if isTarget(in, shardingCall) || isTarget(in, toShards) || isTarget(in, sdyToLocal) || isTarget(in, sdyResult) {
		return true
	}
	k := in.Common()
	if k == nil {
		return false
	}
	if _, parameter := in.ParameterNumber(); !parameter && !in.IsRoot() && k.Sharding != nil {
		return true
	}
	_, shardy := k.FrontendAttributes.Get(sdyShardingKey)
	return shardy
}

func communicates(m hlo.Module) bool {
	return anyInstruction(m, func(in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpPartitionId || hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective)
	})
}

func anyInstruction(m hlo.Module, is func(hlo.Instruction) bool) bool {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if is(in) {
				return true
			}
		}
	}
	return false
}
