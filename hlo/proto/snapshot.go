package proto

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Snapshot is a module with one set of arguments, and the result it had on some platform.
type Snapshot struct {
	Module    hlo.Module
	Arguments []*hlo.Literal
	Result    *hlo.Literal // nil: not recorded
	Platform  string
	Devices   [][]*hlo.Literal // of an HloUnoptimizedSnapshot: the arguments of each device; Arguments are those of the first
}

// DecodeSnapshot reads an HloSnapshot or an HloUnoptimizedSnapshot, compressed or not.
func DecodeSnapshot(data []byte) (*Snapshot, error) {
	data, err := unpack(data)
	if err != nil {
		return nil, err
	}
	if msg, literals, ok := openUnoptimized(data); ok {
		return decodeUnoptimized(msg, literals)
	}
	var msg snapshotMsg
	if err := unmarshal(data, &msg); err != nil {
		return nil, err
	}
	if msg.HLO == nil || msg.HLO.Module == nil {
		return nil, errorf("no module in the snapshot")
	}
	s := &Snapshot{Platform: msg.Platform}
	if s.Module, err = decodeModule(msg.HLO.Module, nil, 0); err != nil {
		return nil, within(err, "hlo.hlo_module")
	}
	known := make(shapes)
	for i, a := range msg.Arguments {
		l, err := decodeLiteral(a, known)
		if err != nil {
			return nil, within(err, at("arguments", i))
		}
		s.Arguments = append(s.Arguments, aligned(l))
	}
	if msg.Result != nil {
		if s.Result, err = decodeLiteral(msg.Result, known); err != nil {
			return nil, within(err, "result")
		}
	}
	return s, nil
}

// aligned is l with memory of its own, where numbers begin at multiples of their size; in the file they need not.
func aligned(l *hlo.Literal) *hlo.Literal {
	if l.Shape().IsTuple() {
		parts := make([]*hlo.Literal, l.NumParts())
		for i := range parts {
			parts[i] = aligned(l.Part(i))
		}
		return hlo.NewTupleLiteral(parts...)
	}
	if own, err := hlo.NewLiteral(l.Shape(), slices.Clone(l.Bytes())); err == nil {
		return own
	}
	return l // it has no elements
}

// IsSnapshot reports whether data is an HloSnapshot or HloUnoptimizedSnapshot that has arguments or a result: [Decode] reads its module.
func IsSnapshot(data []byte) bool {
	data, err := unpack(data)
	if err != nil || looksLikeModule(data) {
		return false
	}
	if msg, _, ok := openUnoptimized(data); ok {
		return first(msg, snapshotArguments) != nil
	}
	return looksLikeModule(first(first(data, modulesModule), modulesModule)) &&
		(first(data, snapshotArguments) != nil || first(data, snapshotResult) != nil)
}

// The fields of an HloSnapshot beside its program.
const (
	snapshotArguments = 2
	snapshotResult    = 3
)

// EncodeSnapshot writes an HloSnapshot.
func EncodeSnapshot(s *Snapshot) []byte {
	e := newEncoder(s.Module)
	msg := &snapshotMsg{HLO: &hloProto{Module: e.module()}, Platform: s.Platform}
	for _, a := range s.Arguments {
		msg.Arguments = append(msg.Arguments, marshal(nil, e.literal(a, nil)))
	}
	if s.Result != nil {
		msg.Result = marshal(nil, e.literal(s.Result, nil))
	}
	return marshal(nil, msg)
}
