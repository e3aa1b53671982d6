package hlo

import "strings"

// Lapack takes the target of a custom call apart that calls LAPACK, as JAX does on CPU: lapack_dgetrf_ffi is getrf for 'd', which is float64 (s, c and z
// are float32 and complex numbers of these). Of other targets ok is false.
func Lapack(target string) (element byte, routine string, ok bool) {
	name, begins := strings.CutPrefix(target, "lapack_")
	name, ends := strings.CutSuffix(name, "_ffi")
	if !begins || !ends || len(name) < 2 || strings.IndexByte("sdcz", name[0]) < 0 {
		return 0, "", false
	}
	return name[0], name[1:], true
}
