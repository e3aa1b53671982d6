package source

import (
	"bytes"
	"slices"
	"strings"
)

// isHLOText reports whether data begins as HLO text does. A text without a header may begin with any word, so this recognises only the
// certain cases; what is nothing else is HLO text in the end.
func isHLOText(data []byte) bool {
	first, _ := firstToken(data)
	return first == "HloModule" || first == "ENTRY" || first == "%"
}

// isStableHLO reports whether data is MLIR text whose first op is of StableHLO or of a dialect that comes with it; a program without any
// such op is StableHLO if its main function has tensors only.
func isStableHLO(data []byte) bool {
	if !looksLikeMLIR(data) {
		return false
	}
	op := firstOp(data)
	if op == "" {
		return hasTensorMain(data)
	}
	return slices.Contains(stableDialects, dialectOf(op))
}

// isHostProgram reports whether data is MLIR text of any dialect that is not known to be for something else: the kernels of host programs
// are open-ended.
func isHostProgram(data []byte) bool {
	return looksLikeMLIR(data) && !slices.Contains(otherDialects, dialectOf(firstOp(data)))
}

// isTextProto reports whether data begins as a protocol buffer does whose text begins with a field: `name: value` or `name {`.
func isTextProto(data []byte) bool {
	first, rest := firstToken(data)
	if first == "" || first[0] < 'a' || first[0] > 'z' || first == "module" || first == "func" || strings.ContainsAny(first, ".$") {
		return false
	}
	next := bytes.TrimLeft(rest, " ")
	if len(next) == 0 || len(next) == len(rest) && next[0] == '{' {
		return false
	}
	value := bytes.TrimLeft(next[1:], " ")
	switch {
	case next[0] == ':': // a string, a number or a word, and the end of the line; HLO has shapes there
		end := max(0, bytes.IndexByte(value, '\n'))
		return end > 0 && (value[0] == '"' && value[end-1] == '"' || bytes.IndexFunc(value[:end], notWord) < 0)
	case next[0] == '{': // a computation's body has instructions in it
		inner, after := firstToken(value)
		after = bytes.TrimLeft(after, " ")
		return inner != "" && inner[0] >= 'a' && inner[0] <= 'z' && len(after) > 0 && (after[0] == ':' || after[0] == '{')
	}
	return false
}

func notWord(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' || r == '+')
}

// isMLIR reports whether data is MLIR text.
func isMLIR(data []byte) bool { return looksLikeMLIR(data) }

var (
	stableDialects = []string{"stablehlo", "chlo", "mhlo", "vhlo", "sdy", "shape"}
	// structural dialects say nothing about who reads a program.
	structural = []string{"", "func", "builtin", "arith", "tensor", "module"}
	// otherDialects are those of other compilers that people come with.
	otherDialects = []string{"tosa", "linalg", "torch", "tf", "tfl", "tf_executor", "tf_device", "tf_saved_model", "llvm", "ttir", "memref", "scf", "cf",
		"vector", "affine", "gpu", "nvvm", "rocdl", "spirv", "triton", "tt", "iree", "hal", "flow", "vm", "util", "onnx", "quant", "math", "complex", "emitc", "xla", "xla_gpu",
		"thlo", "lmhlo", "mosaic", "tpu"}
)

func dialectOf(op string) string {
	dialect, _, _ := strings.Cut(op, ".")
	return dialect
}

// looksLikeMLIR reports whether a text begins as a module, a function, an alias or an op of MLIR does.
func looksLikeMLIR(data []byte) bool {
	first, rest := firstToken(data)
	switch first {
	case "builtin.module", "func.func", "sdy.mesh", "{-#":
		return true
	case "#", "!": // an alias, #loc = ...; comments of XLA's tests and lines of C++ begin with # as well
		if len(rest) == 0 || !isWordByte(rest[0]) {
			return false
		}
		_, rest = firstToken(rest)
		next, _ := firstToken(rest)
		return next == "="
	case "module":
		next, _ := firstToken(rest)
		return next == "@" || next == "{" || next == "attributes"
	case "func":
		next, _ := firstToken(rest)
		return next == "@" || next == "private" || next == "public"
	case "\"":
		name, _, ok := bytes.Cut(rest, []byte("\""))
		return ok && isOpName(string(name))
	}
	return false
}

// firstToken is the first word, or else the first character, of a text that is not white space or in a comment, and what follows.
func firstToken(data []byte) (token string, rest []byte) {
	data = skipSpace(bytes.TrimPrefix(data, byteOrderMark))
	if bytes.HasPrefix(data, []byte("{-#")) {
		return "{-#", data[3:]
	}
	n := 0
	for n < min(len(data), maxWord) && isWordByte(data[n]) {
		n++
	}
	n = min(max(n, 1), len(data))
	return string(data[:n]), data[n:]
}

// skipSpace drops white space and comments. Both forms of comment are HLO's; MLIR has the first.
func skipSpace(data []byte) []byte {
	for {
		data = bytes.TrimLeft(data, " \t\r\n")
		switch {
		case bytes.HasPrefix(data, []byte("//")):
			end := bytes.IndexByte(data, '\n')
			if end < 0 {
				return nil
			}
			data = data[end:]
		case bytes.HasPrefix(data, []byte("/*")):
			end := bytes.Index(data, []byte("*/"))
			if end < 0 {
				return nil
			}
			data = data[end+2:]
		default:
			return data
		}
	}
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '$'
}

// isOpName reports whether a word is the name of an op, dialect.op.
func isOpName(word string) bool {
	dialect, op, _ := strings.Cut(word, ".")
	isLetter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
	return dialect != "" && op != "" && isLetter(dialect[0]) && isLetter(op[0]) && !strings.ContainsAny(word, " \t\n/:")
}

// firstOp is the name of the first op of an MLIR text that says who reads it, quoted or not; "" if it has none. Values, symbols, types and
// attributes have a sign before their names. Names within attributes (tfrt.sync = true) look like those of ops, so attributes are passed
// over, and so are locations, whose strings may look like ops in their generic form.
func firstOp(data []byte) string {
	parens := 0            // outside of attributes
	skipping := 0          // brackets of an attribute or location that are open
	previous := byte('\n') // the last character that was not space
	for len(data) > 0 {
		c, n := data[0], 1
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			data = data[1:]
			continue
		case c == '/' && len(data) > 1 && data[1] == '/':
			data = skipSpace(data)
			continue
		case c == '"':
			n = endOfString(data)
			// An op in its generic form is followed by its operands.
			name := string(data[1:max(n-1, 1)])
			if skipping == 0 && isTelling(name) && bytes.HasPrefix(skipSpace(data[n:]), []byte("(")) {
				return name
			}
		case isWordByte(c):
			for n < len(data) && isWordByte(data[n]) {
				n++
			}
			word := string(data[:min(n, maxWord)])
			next := skipSpace(data[n:])
			switch {
			case skipping > 0 || strings.IndexByte("%@#!^-", previous) >= 0:
			case word == "attributes" && bytes.HasPrefix(next, []byte("{")), word == "loc" && bytes.HasPrefix(next, []byte("(")):
				data, n, skipping = next, 1, 1
			case isTelling(word):
				return word
			}
		case skipping > 0 && strings.IndexByte("{<([", c) >= 0:
			skipping++
		case skipping > 0 && (strings.IndexByte("})]", c) >= 0 || c == '>' && previous != '-'):
			skipping--
		case skipping > 0:
		case c == '<', c == '{' && parens > 0 && previous != '(': // of a type, or a dictionary of an argument; regions are in ({ })
			skipping++
		case c == '(':
			parens++
		case c == ')':
			parens--
		}
		data, previous = data[n:], c
	}
	return ""
}

// maxWord is more than the name of any op has.
const maxWord = 128

// endOfString is the length of the string that data begins with, its quotes included.
func endOfString(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// isTelling reports whether a word is the name of an op that says who reads the program.
func isTelling(word string) bool {
	return isOpName(word) && !slices.Contains(structural, dialectOf(word))
}

// hasTensorMain reports whether an MLIR text has a main function that begins with a tensor, as an argument or as its result, or with an
// alias: the types of host programs have dialects.
func hasTensorMain(data []byte) bool {
	_, signature, _ := bytes.Cut(data, []byte("@main("))
	colon, arrow := bytes.IndexByte(signature, ':'), bytes.Index(signature, []byte("->"))
	switch {
	case colon >= 0 && (arrow < 0 || colon < arrow):
		signature = signature[colon+1:]
	case arrow >= 0:
		signature = signature[arrow+2:]
	default:
		return false
	}
	signature = bytes.TrimLeft(signature, " (")
	if rest, ok := bytes.CutPrefix(signature, []byte("!")); ok {
		n := 0
		for n < len(rest) && isWordByte(rest[n]) {
			n++
		}
		return bytes.HasPrefix(rest, []byte("stablehlo.")) || n > 0 && bytes.IndexByte(rest[:n], '.') < 0
	}
	return bytes.HasPrefix(signature, []byte("tensor<"))
}
