package proto

import (
	"bytes"
	"compress/gzip"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
)

// maxUnpacked bounds what a compressed file may grow to.
const maxUnpacked = 4 << 30

// Decode reads a module from an HloModuleProto, or from an HloProto, an HloSnapshot, or an HloModuleProtoWithConfig around one; any
// of them may be compressed with gzip. The module may share memory with data, which must not be written afterwards. The error is a
// *[FormatError], or that of gzip.
func Decode(data []byte) (hlo.Module, error) {
	data, err := unpack(data)
	if err != nil {
		return hlo.Module{}, err
	}
	raw, err := findModule(data)
	if err != nil {
		return hlo.Module{}, err
	}
	var msg moduleMsg
	if err := unmarshal(raw, &msg); err != nil {
		return hlo.Module{}, err
	}
	return decodeModule(&msg)
}

// IsProto guesses whether data is one of the forms that [Decode] reads, rather than text: text has no control bytes at its beginning.
func IsProto(data []byte) bool {
	if bytes.HasPrefix(data, gzipMagic) {
		return true
	}
	return len(data) > 1 && data[0] == 0x0a && (data[1] < '\t' || data[1] > '\r' && data[1] != ' ') && hasControl(data)
}

// hasControl reports whether the first bytes have one that no text has.
func hasControl(data []byte) bool {
	for _, c := range data[:min(len(data), 512)] {
		if c < '\t' || c > '\r' && c < ' ' {
			return true
		}
	}
	return false
}

var gzipMagic = []byte{0x1f, 0x8b}

func unpack(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, gzipMagic) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err == nil && len(data) > maxUnpacked {
		err = errorf("more than %d bytes when decompressed", int64(maxUnpacked))
	}
	return data, err
}

// findModule finds the bytes of the module. Each of the messages around one has it, or the next of them, in field 1, where a module has
// its name, and a module has computations in field 3.
func findModule(data []byte) ([]byte, error) {
	for range 3 {
		if looksLikeModule(data) {
			return data, nil
		}
		inner, ok := firstField(data)
		if !ok {
			break
		}
		data = inner
	}
	return nil, errorf("no module in it")
}

// firstField is the content of field 1, a message.
func firstField(b []byte) ([]byte, bool) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, false
		}
		b = b[n:]
		if num == 1 && typ == protowire.BytesType {
			x, n := protowire.ConsumeBytes(b)
			return x, n >= 0
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return nil, false
		}
		b = b[n:]
	}
	return nil, false
}

// looksLikeModule reports whether b is well-formed on its outermost level and has a computation that has instructions with opcodes.
// Buffer assignments and literals, which messages around a module have in field 3, have no text there.
func looksLikeModule(b []byte) bool {
	found := false
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		if num == 3 && typ == protowire.BytesType && !found {
			x, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return false
			}
			var c computationMsg
			var in instructionMsg
			if unmarshal(x, &c) == nil && len(c.Instructions) > 0 && unmarshal(c.Instructions[0], &in) == nil {
				found = isMnemonic(in.Opcode)
			}
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return false
		}
		b = b[n:]
	}
	return found
}

// isMnemonic reports whether s looks like an opcode, known or not.
func isMnemonic(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != ""
}

// Encode writes the module as an HloModuleProto.
func Encode(m hlo.Module) []byte { return marshal(nil, encodeModule(m)) }

// Snapshot is a module with one set of arguments, and the result it had on some platform.
type Snapshot struct {
	Module    hlo.Module
	Arguments []*hlo.Literal
	Result    *hlo.Literal // nil: not recorded
	Platform  string
}

// DecodeSnapshot reads an HloSnapshot, compressed or not.
func DecodeSnapshot(data []byte) (*Snapshot, error) {
	data, err := unpack(data)
	if err != nil {
		return nil, err
	}
	var msg snapshotMsg
	if err := unmarshal(data, &msg); err != nil {
		return nil, err
	}
	if msg.HLO == nil || msg.HLO.Module == nil {
		return nil, errorf("no module in the snapshot")
	}
	s := &Snapshot{Platform: msg.Platform}
	if s.Module, err = decodeModule(msg.HLO.Module); err != nil {
		return nil, within(err, "hlo.hlo_module")
	}
	var shapes shapeCache
	for i, a := range msg.Arguments {
		l, err := decodeLiteral(a, &shapes)
		if err != nil {
			return nil, within(err, at("arguments", i))
		}
		s.Arguments = append(s.Arguments, l)
	}
	if msg.Result != nil {
		if s.Result, err = decodeLiteral(msg.Result, &shapes); err != nil {
			return nil, within(err, "result")
		}
	}
	return s, nil
}

// EncodeSnapshot writes an HloSnapshot.
func EncodeSnapshot(s *Snapshot) []byte {
	msg := &snapshotMsg{HLO: &hloProto{Module: encodeModule(s.Module)}, Platform: s.Platform}
	for _, a := range s.Arguments {
		msg.Arguments = append(msg.Arguments, encodeLiteral(a))
	}
	if s.Result != nil {
		msg.Result = encodeLiteral(s.Result)
	}
	return marshal(nil, msg)
}
