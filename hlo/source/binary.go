package source

import (
	"bytes"
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// isProto reports whether data is a protocol buffer: text has no control characters but white space. It comes after the texts, so what
// begins as one of these and has such characters later is a text with a fault.
func isProto(data []byte) bool {
	if hasControl(data[:min(len(data), 512)]) {
		return true
	}
	// A module may have a name of more than that. Behind it is the tag of another field, which is a control character.
	if len(data) == 0 || data[0] != '\n' {
		return false
	}
	_, n := protowire.ConsumeBytes(data[1:])
	return n > 0 && hasControl(data[1+n:][:min(len(data)-1-n, 1)])
}

// hasControl reports whether data has characters that no text has.
func hasControl(data []byte) bool {
	for _, c := range data {
		if c < '\t' || c > '\r' && c < ' ' {
			return true
		}
	}
	return false
}

// exportModule is the field of a jax.export file, a flatbuffer, that holds the program as MLIR bytecode.
const exportModule = 13

// isExport reports whether data is a flatbuffer whose root has MLIR bytecode where jax.export puts it. Flatbuffers begin with the
// offset of the root and have no other mark.
func isExport(data []byte) bool {
	_, ok := exportedModule(data)
	return ok
}

// exportedModule finds the bytecode in a jax.export file.
func exportedModule(data []byte) (module []byte, ok bool) {
	u32 := func(at int64) int64 {
		if at < 0 || at > int64(len(data))-4 {
			return -1
		}
		return int64(binary.LittleEndian.Uint32(data[at:]))
	}
	root := u32(0)
	if root < 4 || root%2 != 0 {
		return nil, false
	}
	back := u32(root)
	if back < 0 {
		return nil, false
	}
	table := root - int64(int32(back)) // the table of offsets of the root's fields
	slot := table + 4 + 2*exportModule
	if table < 0 || slot > int64(len(data))-2 {
		return nil, false
	}
	size := int64(binary.LittleEndian.Uint16(data[table:]))
	if size%2 != 0 || size < 4+2*(exportModule+1) || size > 4+2*64 {
		return nil, false
	}
	field := root + int64(binary.LittleEndian.Uint16(data[slot:]))
	to := u32(field)
	if to < 0 {
		return nil, false
	}
	vector := field + to
	n := u32(vector)
	if n < 0 || vector+4+n > int64(len(data)) {
		return nil, false
	}
	module = data[vector+4:][:n]
	return module, bytes.HasPrefix(module, []byte("ML\xefR"))
}

// isPickle recognises protocols 2 to 5. As a protocol buffer it would begin with a field of a number that no message here has.
func isPickle(data []byte) bool {
	return len(data) > 1 && data[0] == 0x80 && 2 <= data[1] && data[1] <= 5
}
