package spelling

import "strings"

// ElementType returns what HLO calls an element type that is named as NumPy, PyTorch, MLIR or C does: f32 for float32 and float, s32 for
// int32 and i32. It returns "" for what is no such name; HLO need not have the type that it returns.
func ElementType(word string) string {
	word = strings.ToLower(word)
	switch word {
	case "bool", "boolean", "i1":
		return "pred"
	case "half":
		return "f16"
	case "float":
		return "f32"
	case "double":
		return "f64"
	case "int":
		return "s32"
	case "long":
		return "s64"
	case "bfloat":
		return "bf16"
	}
	for _, family := range []struct{ theirs, ours string }{
		{"bfloat", "bf"}, {"float", "f"}, {"int", "s"}, {"uint", "u"}, {"complex", "c"}, {"ui", "u"}, {"si", "s"}, {"i", "s"},
	} {
		if rest, ok := strings.CutPrefix(word, family.theirs); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return family.ours + strings.ReplaceAll(rest, "_", "") // float8_e4m3fn
		}
	}
	return ""
}
