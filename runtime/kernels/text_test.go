package kernels

import "strings"

// replaceType puts an element type for T where a shape begins.
func replaceType(text, typ string) string { return strings.ReplaceAll(text, "T[", typ+"[") }
