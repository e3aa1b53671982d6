//go:build !halodebug

package async

// debug is true under the build tag halodebug.
const debug = false

func recordOrigin(*Value)                     {}
func forgetOrigin(*Value)                     {}
func origin(*Value) string                    { return "" }
func openOrigins() map[*Value]struct{}        { return nil }
func originsSince(map[*Value]struct{}) string { return "" }
