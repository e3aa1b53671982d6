package collectives

import (
	"github.com/gohalo/halo/hlo"
)

// devices says how many take part in a program.
type devices struct{ replicas, partitions int64 }

func devicesOf(m hlo.Module) devices {
	c := m.Config()
	return devices{max(c.ReplicaCount, 1), max(c.NumPartitions, 1)}
}

func (d devices) count() int64 { return d.replicas * d.partitions }

// maxDevices bounds what is computed for each device.
const maxDevices = 1 << 16

// onEach computes an integer scalar, or an array of one element, for each device: device replica·partitions + partition. False when it
// depends on anything but constants and the numbers of the device.
func (d devices) onEach(in hlo.Instruction) ([]int64, bool) {
	if d.count() > maxDevices {
		return nil, false
	}
	return d.values(in, 0)
}

func (d devices) values(in hlo.Instruction, depth int) ([]int64, bool) {
	if depth > 24 || !in.Shape().IsArray() || in.Shape().NumElements() != 1 || !in.Shape().Type().IsInteger() {
		return nil, false
	}
	out := make([]int64, d.count())
	switch in.Opcode() {
	case hlo.OpConstant:
		l := in.Literal()
		if l == nil || l.IsElided() {
			return nil, false
		}
		v := elements(l)
		for i := range out {
			out[i] = v[0]
		}
		return out, v != nil
	case hlo.OpPartitionId:
		for i := range out {
			out[i] = int64(i) % d.partitions
		}
		return out, true
	case hlo.OpReplicaId:
		for i := range out {
			out[i] = int64(i) / d.partitions
		}
		return out, true
	case hlo.OpDynamicSlice:
		return d.looked(in, depth)
	}
	return d.computed(in, depth, out)
}

// computed is the value of an op on values that are known.
func (d devices) computed(in hlo.Instruction, depth int, out []int64) ([]int64, bool) {
	var apply func(a, b int64) int64
	switch in.Opcode() {
	case hlo.OpConvert, hlo.OpReshape, hlo.OpBitcast, hlo.OpCopy, hlo.OpBroadcast:
		return d.values(in.OperandInstr(0), depth+1)
	case hlo.OpAdd:
		apply = func(a, b int64) int64 { return a + b }
	}
	switch in.Opcode() {
	case hlo.OpSubtract:
		apply = func(a, b int64) int64 { return a - b }
	case hlo.OpMultiply:
		apply = func(a, b int64) int64 { return a * b }
	case hlo.OpDivide:
		apply = func(a, b int64) int64 { return a / b }
	case hlo.OpRemainder:
		apply = func(a, b int64) int64 { return a % b }
	}
	if apply == nil {
		return nil, false
	}
	x, okX := d.values(in.OperandInstr(0), depth+1)
	y, okY := d.values(in.OperandInstr(1), depth+1)
	if !okX || !okY {
		return nil, false
	}
	for i := range out {
		if y[i] == 0 && (in.Opcode() == hlo.OpDivide || in.Opcode() == hlo.OpRemainder) {
			return nil, false
		}
		out[i] = apply(x[i], y[i])
		if bits := in.Shape().Type().Bits(); out[i] < 0 || bits < 64 && out[i] >= 1<<(bits-1) {
			return nil, false // it may have left its type
		}
	}
	return out, true
}

// looked is an element of a constant table.
func (d devices) looked(in hlo.Instruction, depth int) ([]int64, bool) {
	table := in.OperandInstr(0)
	if table.Opcode() != hlo.OpConstant || table.Shape().Rank() != 1 || table.Literal() == nil || table.Literal().IsElided() {
		return nil, false
	}
	v := elements(table.Literal())
	at, ok := d.values(in.OperandInstr(1), depth+1)
	if v == nil || !ok {
		return nil, false
	}
	out := make([]int64, len(at))
	for i, k := range at {
		out[i] = v[max(0, min(k, int64(len(v))-1))]
	}
	return out, true
}

// elements lists the elements of an integer literal; nil for types narrower than a byte.
func elements(l *hlo.Literal) []int64 {
	t := l.Shape().Type()
	width := t.ByteSize()
	if !t.IsInteger() || t.Bits() < 8 {
		return nil
	}
	out := make([]int64, 0, len(l.Bytes())/width)
	for b := l.Bytes(); len(b) >= width; b = b[width:] {
		var v uint64
		for i := range width {
			v |= uint64(b[i]) << (8 * i)
		}
		if shift := 64 - 8*width; t.IsSigned() {
			out = append(out, int64(v<<shift)>>shift)
		} else {
			out = append(out, int64(v))
		}
	}
	return out
}

// places says for each device which place it has in its group, and which devices are in it, by their places. False when the groups do not
// name every device once.
func (d devices) places(f facts) (place []int, members [][]int64, ok bool) {
	lists, listed := f.lists()
	var groups [][]int64
	switch {
	case f.global:
		if !listed {
			all := make([]int64, d.count())
			for i := range all {
				all[i] = int64(i)
			}
			lists = [][]int64{all}
		}
		groups = lists
	case f.channel.Set:
		return nil, nil, false // all partitions of the replicas: their order is not that of a list
	default: // replicas, the same partition of each
		if !listed {
			all := make([]int64, d.replicas)
			for i := range all {
				all[i] = int64(i)
			}
			lists = [][]int64{all}
		}
		for _, g := range lists {
			for p := range d.partitions {
				var group []int64
				for _, r := range g {
					group = append(group, r*d.partitions+p)
				}
				groups = append(groups, group)
			}
		}
	}
	if d.count() > maxDevices {
		return nil, nil, false
	}
	place, members = make([]int, d.count()), make([][]int64, d.count())
	for _, g := range groups {
		for i, id := range g {
			if id < 0 || id >= d.count() || members[id] != nil {
				return nil, nil, false
			}
			place[id], members[id] = i, g
		}
	}
	for _, g := range members {
		if g == nil {
			return nil, nil, false
		}
	}
	return place, members, true
}
