package kernels

import "strings"

// replaceType puts an element type for T where a shape begins.
func replaceType(text, typ string) string {
	text = strings.ReplaceAll(text, "(T[", "("+typ+"[")
	text = strings.ReplaceAll(text, " T[", " "+typ+"[")
	return typ + strings.TrimPrefix(text, "T")
}
