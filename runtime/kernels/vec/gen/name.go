package main

import (
	"fmt"
	"strings"
)

// typed is the expression of package vec for the name of a kernel. In keys, i stands for s and u where signs do not matter, and a bare number of bits for
// all types that are as wide.
func typed(key string) string {
	parts := strings.Split(key, ".")
	op, mode, forms := parts[0], "Elementwise", parts[1:]
	if m, ok := modes[op]; ok {
		op, mode = m.op, m.mode
	}
	if stride, ok := strings.CutPrefix(op, "every-"); ok {
		op, mode = "slice", "Every"+stride
	}
	if bits, ok := strings.CutPrefix(forms[0], "total"); ok {
		mode, forms[0] = "Total"+mode, "f"+bits
	}
	switch last := len(forms) - 1; {
	case op == "convert" && mode == "Rounding": // from f32
		forms = []string{"f32", forms[0]}
	case forms[0] == "round": // as in add.round.bf16
		mode, forms = "Rounding", []string{"f32", "f32", forms[1]}
	case forms[last] == "round": // as in add.bf16.f32.round
		mode, forms[last] = "Rounding", "bf16"
	}
	for i, f := range forms {
		forms[i] = "hlo." + strings.ToUpper(unsigned(f))
	}
	var camel strings.Builder
	for _, word := range strings.Split(op, "-") {
		camel.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return fmt.Sprintf("Name{hlo.Op%s, %s, types{%s}}", camel.String(), mode, strings.Join(forms, ", "))
}

// unsigned spells a type without a sign as that of unsigned integers.
func unsigned(form string) string {
	if bits := strings.TrimPrefix(form, "i"); strings.Trim(bits, "0123456789") == "" {
		return "u" + bits
	}
	return form
}

// modes are the first words of keys that are no opcodes.
var modes = map[string]struct{ op, mode string }{
	"sum": {"add", "Folding"}, "greatest": {"maximum", "Folding"}, "least": {"minimum", "Folding"}, "magnitude": {"abs", "Folding"},
	"fold-and": {"and", "Folding"}, "fold-or": {"or", "Folding"}, "fold-xor": {"xor", "Folding"},
	"sum-rows": {"add", "FoldingRows"}, "greatest-rows": {"maximum", "FoldingRows"}, "least-rows": {"minimum", "FoldingRows"},
	"sum-runs": {"add", "FoldingRuns"}, "greatest-runs": {"maximum", "FoldingRuns"}, "least-runs": {"minimum", "FoldingRuns"}, "product-runs": {"multiply", "FoldingRuns"},
	"sum-pairs": {"add", "FoldingPairs"}, "greatest-pairs": {"maximum", "FoldingPairs"}, "least-pairs": {"minimum", "FoldingPairs"}, "product-pairs": {"multiply", "FoldingPairs"},
	"window-add": {"add", "Windowed"}, "window-maximum": {"maximum", "Windowed"}, "window-minimum": {"minimum", "Windowed"},
	"window-multiply": {"multiply", "Windowed"}, "window-and": {"and", "Windowed"}, "window-or": {"or", "Windowed"}, "window-xor": {"xor", "Windowed"},
	"scatter-add": {"add", "Scattered"}, "scatter-multiply": {"multiply", "Scattered"}, "scatter-maximum": {"maximum", "Scattered"}, "scatter-minimum": {"minimum", "Scattered"},
	"window-convolution": {"convolution", "Windowed"},
	"eq":                 {"compare", "Equal"}, "ne": {"compare", "NotEqual"}, "lt": {"compare", "Less"}, "le": {"compare", "LessOrEqual"},
	"round": {"convert", "Rounding"}, "rotate-left": {"shift-left", "Rotating"}, "increased-tanh": {"tanh", "Increased"}, "remainder-by-power": {"remainder", "ByPower"},
	"real-multiply": {"multiply", "RealPart"}, "imaginary-multiply": {"multiply", "ImaginaryPart"}, "real-abs": {"abs", "RealPart"}, "real-divide": {"divide", "RealPart"},
	"imaginary-divide": {"divide", "ImaginaryPart"},
	"fill":             {"broadcast", "Elementwise"}, "permute": {"gather", "Elementwise"}, "pick": {"gather", "Picking"}, "take": {"gather", "Taking"}, "pick-by-pairs": {"gather", "PickingByPairs"}, "count": {"iota", "Elementwise"},
}
