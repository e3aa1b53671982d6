package proto

import "google.golang.org/protobuf/encoding/protowire"

// TensorFlow's own files are protos as well, and end in .pb. What they hold is a graph of TensorFlow.

// noModule is the error for a message without a module, which says what it is if that is known.
func noModule(data []byte) error {
	switch {
	case isGraph(first(first(data, 2), 2)):
		return errorf("no module in it: it is a SavedModel, a graph of TensorFlow. HLO of a function is %s, and an XlaCallModule of the graph has StableHLO in its attribute 'module'", compilerIR)
	case isGraph(data):
		return errorf("no module in it: it is a graph of TensorFlow. HLO of a function is %s", compilerIR)
	}
	if missing := cutShort(data); missing > 0 {
		return errorf("no module in it: it is cut short, %d or more bytes are missing", missing)
	}
	return errorf("no module in it")
}

// cutShort is how many bytes a field needs that are not there, 0 if b is no message whose first field is bytes with number 1, as those of
// modules and of the messages around them are.
func cutShort(b []byte) uint64 {
	for first := true; len(b) > 0; first = false {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 || first && (num != 1 || typ != protowire.BytesType) {
			return 0
		}
		b = b[n:]
		if typ == protowire.BytesType {
			if size, n := protowire.ConsumeVarint(b); n > 0 && size > uint64(len(b)-n) {
				return size - uint64(len(b)-n)
			}
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return 0
		}
		b = b[n:]
	}
	return 0
}

const compilerIR = "f.experimental_get_compiler_ir(*args)(stage='hlo_serialized') in Python, where f is a tf.function with jit_compile=True"

// isGraph reports whether b is a GraphDef: its first node has a name and an op, which is a word that begins with a capital.
func isGraph(b []byte) bool {
	node := first(b, 1)
	op := sharedString(first(node, 2))
	return len(first(node, 1)) > 0 && op != "" && (op[0] == '_' || op[0] >= 'A' && op[0] <= 'Z') && isWord(op)
}

func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '>' {
			return false
		}
	}
	return true
}
