package proto

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// An HloUnoptimizedSnapshot is a module before XLA's passes with the arguments of each device. Two forms of the file exist. The older is
// the message alone, with literals in it. In the newer the message comes first, behind its length, and says how many bytes each
// argument takes; the arguments follow, each as the length of its shape in eight bytes, the shape, and the elements in the order of memory.

// openUnoptimized finds the message of an HloUnoptimizedSnapshot, and what follows it in files of the newer form.
func openUnoptimized(data []byte) (msg, literals []byte, ok bool) {
	if looksLikeModule(first(data, modulesModule)) {
		// An HloModuleProtoWithConfig has a configuration where this has arguments, and they have more fields.
		inputs := first(data, snapshotArguments)
		return data, nil, inputs != nil && highestField(inputs) <= 2
	}
	n, size := protowire.ConsumeVarint(data)
	if size <= 0 || n == 0 || n > uint64(len(data)-size) {
		return nil, nil, false
	}
	msg, literals = data[size:][:n], data[size:][n:]
	return msg, literals, looksLikeModule(first(msg, modulesModule))
}

// highestField is the largest number of a field of a message.
func highestField(b []byte) (highest protowire.Number) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.MaxValidNumber
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return protowire.MaxValidNumber
		}
		b, highest = b[n:], max(highest, num)
	}
	return highest
}

// decodeUnoptimized reads an HloUnoptimizedSnapshot.
func decodeUnoptimized(data, literals []byte) (*Snapshot, error) {
	var msg unoptimizedMsg
	if err := unmarshal(data, &msg); err != nil {
		return nil, err
	}
	s := &Snapshot{}
	var err error
	if s.Module, err = decodeModule(msg.Module, nil, 0); err != nil {
		return nil, within(err, "hlo_module")
	}
	known := make(shapes)
	for d, raw := range msg.Partitions {
		var in inputsMsg
		if err := unmarshal(raw, &in); err != nil {
			return nil, within(err, at("partitions", d))
		}
		args := make([]*hlo.Literal, 0, min(len(in.Arguments)+len(in.Descriptors), len(data)))
		for i, raw := range in.Arguments {
			l, err := decodeLiteral(raw, known)
			if err != nil {
				return nil, within(within(err, at("arguments", i)), at("partitions", d))
			}
			args = append(args, aligned(l))
		}
		for i, raw := range in.Descriptors {
			var about descriptorMsg
			err := unmarshal(raw, &about)
			switch {
			case err != nil:
			case about.Version != 0:
				err = errorf("version %d of the encoding of literals, want 0", about.Version)
			case about.Size < 0 || about.Size > int64(len(literals)):
				err = errorf("%d bytes, there are %d", about.Size, len(literals))
			default:
				var l *hlo.Literal
				if l, err = decodeSerialized(literals[:about.Size], known); err == nil {
					args = append(args, l)
					literals = literals[about.Size:]
				}
			}
			if err != nil {
				return nil, within(within(err, at("arguments_descriptors", i)), at("partitions", d))
			}
		}
		s.Devices = append(s.Devices, args)
	}
	if len(s.Devices) > 0 {
		s.Arguments = s.Devices[0]
	}
	return s, nil
}

// decodeSerialized reads a literal that is its shape and its elements.
func decodeSerialized(data []byte, known shapes) (*hlo.Literal, error) {
	if len(data) < 8 {
		return nil, errorf("%d bytes of a literal", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	data = data[8:]
	if n > uint64(len(data)) {
		return nil, errorf("a shape of %d bytes, there are %d", n, len(data))
	}
	s, err := known.shape(data[:n])
	if err != nil {
		return nil, within(err, "shape")
	}
	l, rest, err := decodeElements(data[n:], s)
	if err == nil && len(rest) > 0 {
		err = errorf("%d bytes after the elements of %v", len(rest), s)
	}
	return l, err
}

// decodeElements reads the elements of a shape, those of tuples one after the other, and returns what follows them.
func decodeElements(data []byte, s hlo.Shape) (*hlo.Literal, []byte, error) {
	switch {
	case s.IsTuple():
		parts := make([]*hlo.Literal, s.NumElems())
		for i := range parts {
			var err error
			if parts[i], data, err = decodeElements(data, s.Elem(i)); err != nil {
				return nil, nil, err
			}
		}
		return hlo.NewTupleLiteral(parts...), data, nil
	case s.IsToken():
		l, err := newLiteral(s, nil)
		return l, data, err
	case !s.IsArray() || !s.IsStatic():
		return nil, nil, errorf("literal of shape %v", s)
	}
	t := s.Type()
	bits := t.Bits()
	if t == hlo.PRED {
		bits = 1
	}
	count, size := s.NumElements(), s.ByteSize()
	packed := bits == 1 || bits == 2 || bits == 4
	if packed {
		size = (count*int64(bits) + 7) / 8
	}
	if size < 0 || size > int64(len(data)) {
		return nil, nil, errorf("%d bytes of elements for %v", len(data), s)
	}
	elements, rest := data[:size], data[size:]
	if packed {
		unpacked := make([]byte, count) // at most eight times the file
		minifloat.Unpack(unpacked, elements, bits)
		if t.IsSigned() && t.IsInteger() {
			unpacked = narrowBytes(unpacked, s)
		}
		elements = unpacked
	} else {
		elements = slices.Clone(elements) // literals are aligned, the file is not
	}
	l, err := newLiteral(s, permute(elements, s, false))
	return l, rest, err
}
