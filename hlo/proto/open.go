package proto

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/packed"
)

// maxUnpacked bounds what a file may grow to when it is decompressed: protobuf has no messages of more than 2 GiB.
const maxUnpacked = 1<<31 - 1

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

func unpack(data []byte) ([]byte, error) {
	if !packed.IsGzip(data) {
		return data, nil
	}
	return packed.Gunzip(data, min(packed.Limit(len(data)), maxUnpacked))
}

// findModule finds the bytes of the module, and of a configuration that stands beside it, if there is one. Each of the messages around a
// module has it, or the next of them, in field 1, where a module has its name, and a module has computations in field 3.
func findModule(data []byte) (module, config rawMsg, err error) {
	if msg, _, ok := openUnoptimized(data); ok {
		return first(msg, modulesModule), nil, nil
	}
	message := data
	for around := 0; ; around++ {
		if looksLikeModule(data) {
			return data, config, nil
		}
		inner := first(data, modulesModule)
		if inner == nil || around == 2 {
			return nil, nil, noModule(message)
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
