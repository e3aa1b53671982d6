package proto

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
)

// The limit on the size of a decompressed file: protobuf has no messages of more than 2 GiB, and programs do not shrink to less than a two-hundredth,
// unless they are small or, which is the same, have large constants of one value.
const (
	maxUnpacked = 1<<31 - 1
	maxRatio    = 200
	mayUnpack   = 256 << 20 // whatever the ratio
)

// Decode reads a module from an HloModuleProto, or from an HloProto, an HloSnapshot, an HloUnoptimizedSnapshot, or an
// HloModuleProtoWithConfig around one; any of them may be compressed with gzip. The module may share memory with data, which must not be written afterwards. The error is a
// *[FormatError], or that of gzip.
func Decode(data []byte) (hlo.Module, error) {
	data, err := unpack(data)
	if err != nil {
		return hlo.Module{}, err
	}
	raw, config, err := findModule(data)
	if err != nil {
		return hlo.Module{}, err
	}
	return decodeModule(raw, config, 0)
}

// HasModule reports whether [Decode] finds a module in data, or, if it is damaged, would say where.
func HasModule(data []byte) bool {
	data, err := unpack(data)
	if err != nil {
		return false
	}
	_, _, err = findModule(data)
	return err == nil
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
	limit := min(max(int64(len(data))*maxRatio, mayUnpack), maxUnpacked)
	// The file ends in the size, which need not be true.
	size := int64(binary.LittleEndian.Uint32(data[len(data)-4:]))
	out := bytes.NewBuffer(make([]byte, 0, min(size, int64(len(data))*maxRatio)+bytes.MinRead))
	if _, err := out.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, err
	}
	if int64(out.Len()) > limit {
		return nil, errorf("%d bytes grow to more than %d when decompressed", len(data), limit)
	}
	return out.Bytes(), nil
}

// findModule finds the bytes of the module, and of a configuration that stands beside it, if there is one. Each of the messages around a
// module has it, or the next of them, in field 1, where a module has its name, and a module has computations in field 3.
func findModule(data []byte) (module, config rawMsg, err error) {
	if msg, _, ok := openUnoptimized(data); ok {
		return first(msg, modulesModule), nil, nil
	}
	for around := 0; ; around++ {
		if looksLikeModule(data) {
			return data, config, nil
		}
		inner := first(data, modulesModule)
		if inner == nil || around == 2 {
			return nil, nil, errorf("no module in it")
		}
		data, config = inner, first(data, modulesConfig)
	}
}

// first is the content of the first field of the given number; nil: there is none.
func first(b []byte, num protowire.Number) rawMsg {
	for _, x := range elements(b, num) {
		return x
	}
	return nil
}

// looksLikeModule reports whether b begins with a computation whose first instruction has an opcode. Buffer assignments and literals, which
// messages around a module have where it has computations, have no text there. Whether the rest is well-formed is for the reader to say.
func looksLikeModule(b []byte) bool {
	return isMnemonic(sharedString(first(first(first(b, moduleComputations), computationInstructions), instructionOpcode)))
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
