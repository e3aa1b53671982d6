package kernels

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/devices"
)

// Collectives that only move data copy from the operands of the members to the outputs of each.

// slab is the part of an array along one axis, from index at on, n long.
type slab struct {
	shape    hlo.Shape
	axis     int
	at, size int64
}

// copySlab copies a slab of one array over a slab of another; both are as large.
func copySlab(dst []byte, to slab, src []byte, from slab) error {
	dims := from.shape.Dimensions()
	if to.at+to.size > to.shape.Dim(to.axis) || from.at+from.size > from.shape.Dim(from.axis) || from.size != to.size {
		return fmt.Errorf("%d of %v at %d do not fit into %v at %d", from.size, from.shape, from.at, to.shape, to.at)
	}
	dims[from.axis] = from.size
	width := from.shape.Type().ByteSize()
	ss, ds := rowMajor(from.shape.Dimensions()), rowMajor(to.shape.Dimensions())
	b, ok := newBox(dims, ss, ds, width)
	if !ok {
		return fmt.Errorf("%v has too many dimensions", from.shape)
	}
	if b.bytes() > 0 {
		b.copy(dst[int(to.at)*ds[to.axis]*width:], src[int(from.at)*ss[from.axis]*width:])
	}
	return nil
}

// leafShapes are the shapes of a result's arrays.
func leafShapes(s hlo.Shape) (all []hlo.Shape) {
	for _, leaf := range s.Leaves {
		all = append(all, leaf)
	}
	return all
}

func allGather(s *site) (*collective, error) {
	axis := int(hlo.AttrsOf[hlo.AllGatherAttrs](s.in).Dimensions[0])
	out := leafShapes(s.in.Shape())
	return &collective{common: true, visit: func(t *gathering, _ int, f *runtime.TensorFrame) error {
		for i, shape := range out {
			at := int64(0)
			for rank := range t.group {
				x := t.operand(rank, i)
				n := x.Shape().Dim(axis)
				if err := copySlab(f.Out(i).Data, slab{shape, axis, at, n}, x.Bytes(), slab{x.Shape(), axis, 0, n}); err != nil {
					return err
				}
				at += n
			}
			if at != shape.Dim(axis) {
				return fmt.Errorf("%d devices gather %v to %v", len(t.group), t.operand(0, i).Shape(), shape)
			}
		}
		return nil
	}}, nil
}

func allToAll(s *site) (*collective, error) {
	a := hlo.AttrsOf[hlo.AllToAllAttrs](s.in)
	out := leafShapes(s.in.Shape())
	if len(a.Dimensions) == 0 { // operand j goes to member j
		return &collective{visit: func(t *gathering, rank int, f *runtime.TensorFrame) error {
			if len(t.group) != len(out) {
				return fmt.Errorf("%d operands for %d devices", len(out), len(t.group))
			}
			for j := range t.group {
				copy(f.Out(j).Data, t.operand(j, rank).Bytes())
			}
			return nil
		}}, nil
	}
	axis := int(a.Dimensions[0])
	return &collective{visit: func(t *gathering, rank int, f *runtime.TensorFrame) error {
		for i, shape := range out {
			if axis >= shape.Rank() || shape.Dim(axis)%int64(len(t.group)) != 0 {
				return fmt.Errorf("%v among %d devices", shape, len(t.group))
			}
			n := shape.Dim(axis) / int64(len(t.group))
			for j := range t.group {
				x := t.operand(j, i)
				if err := copySlab(f.Out(i).Data, slab{shape, axis, int64(j) * n, n}, x.Bytes(), slab{x.Shape(), axis, int64(rank) * n, n}); err != nil {
					return err
				}
			}
		}
		return nil
	}}, nil
}

// collectiveBroadcast gives everyone the value of the first of the group, or of those whose ranks the last operand lists.
func collectiveBroadcast(s *site) (*collective, error) {
	dynamic := hlo.AttrsOf[hlo.CollectiveBroadcastAttrs](s.in).HasDynamicRoot
	n := s.in.Shape().NumLeaves()
	return &collective{optional: true, visit: func(t *gathering, rank int, f *runtime.TensorFrame) error {
		if len(t.group) == 0 {
			clearOutputs(f, n)
			return nil
		}
		roots := make([]int64, n)
		if dynamic {
			if listed := devices.Integers(t.operand(rank, n)); len(listed) == n {
				roots = listed
			} else {
				return fmt.Errorf("roots %v of %d operands", t.operand(rank, n).Shape(), n)
			}
		}
		for i, root := range roots {
			if root < 0 || root >= int64(len(t.group)) {
				return fmt.Errorf("root %d of %d devices", root, len(t.group))
			}
			copy(f.Out(i).Data, t.operand(int(root), i).Bytes())
		}
		return nil
	}}, nil
}

func clearOutputs(f *runtime.TensorFrame, n int) {
	for i := range n {
		clear(f.Out(i).Data)
	}
}

// collectivePermute gives each target what its source holds, and zeros to who is no target.
func collectivePermute(s *site) (*collective, error) {
	a := hlo.AttrsOf[hlo.CollectivePermuteAttrs](s.in)
	if len(a.SliceSizes) > 0 {
		return permuteInPlace(s, &a)
	}
	n := s.in.Shape().NumLeaves()
	sources := make(map[int64]int64, len(a.SourceTargetPairs))
	for _, pair := range slices.Backward(a.SourceTargetPairs) {
		sources[pair[1]] = pair[0]
	}
	return &collective{optional: true, visit: func(t *gathering, rank int, f *runtime.TensorFrame) error {
		if len(t.group) == 0 {
			clearOutputs(f, n)
			return nil
		}
		me := t.group[rank]
		id, ok := sources[devices.ID(&a, me)]
		if !ok {
			clearOutputs(f, n)
			return nil
		}
		from := slices.Index(t.group, devices.Source(&a, me, id))
		if from < 0 {
			return fmt.Errorf("source %d does not run", id)
		}
		for i := range n {
			copy(f.Out(i).Data, t.operand(from, i).Bytes())
		}
		return nil
	}}, nil
}

// raggedAllToAll moves rows: peer j's update u goes from its input to where it says in the output of each receiver. The vectors of offsets and
// sizes are of the form [peers × updates].
func raggedAllToAll(s *site) (*collective, error) {
	shape := s.in.Shape()
	if s.in.NumOperands() != 6 || shape.Rank() == 0 {
		return nil, fmt.Errorf("%d operands and a result of %v", s.in.NumOperands(), shape)
	}
	row := int(shape.ByteSize())
	if n := int(shape.Dim(0)); n > 0 {
		row /= n
	}
	return &collective{visit: func(t *gathering, rank int, f *runtime.TensorFrame) error {
		out := f.Out(0).Data
		copy(out, t.operand(rank, 1).Bytes())
		for j := range t.group {
			data := t.operand(j, 0).Bytes()
			from, size, to := devices.Integers(t.operand(j, 2)), devices.Integers(t.operand(j, 3)), devices.Integers(t.operand(j, 4))
			if len(size) != len(from) || len(to) != len(from) {
				return fmt.Errorf("offsets of %v and sizes of %v", t.operand(j, 2).Shape(), t.operand(j, 3).Shape())
			}
			updates := len(from) / len(t.group)
			for k := rank * updates; k < (rank+1)*updates; k++ {
				n, src, dst := int(size[k])*row, int(from[k])*row, int(to[k])*row
				if size[k] < 0 || from[k] < 0 || to[k] < 0 || src+n > len(data) || dst+n > len(out) {
					return fmt.Errorf("%d rows from %d to %d do not fit", size[k], from[k], to[k])
				}
				copy(out[dst:][:n], data[src:])
			}
		}
		return nil
	}}, nil
}
