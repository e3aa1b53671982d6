package hlo

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

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

var lapackConfig = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\w+)\s*=\s*(\w+)`) })

// LapackChoice is the letter that the backend_config of a call to LAPACK gives for one of its choices: `uplo = 76 : ui8` is 'L'.
func LapackChoice(in Instruction, key string) (letter byte, ok bool) {
	n, err := strconv.ParseUint(LapackEntry(in, key), 10, 8)
	return byte(n), err == nil
}

// LapackFlag is what the backend_config of a call to LAPACK says of a flag: `left = true`.
func LapackFlag(in Instruction, key string) (set, ok bool) {
	switch LapackEntry(in, key) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// LapackEntry is what the backend_config of a call to LAPACK says of a key, as a word: empty if it says nothing.
func LapackEntry(in Instruction, key string) string {
	if common := in.Common(); common != nil {
		for _, m := range lapackConfig().FindAllStringSubmatch(common.BackendConfig, -1) {
			if m[1] == key {
				return m[2]
			}
		}
	}
	return ""
}
