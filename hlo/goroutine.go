//go:build !race && !halodebug

package hlo

// holder does nothing in this build; see goroutine_debug.go.
type holder struct{}

func (holder) claim()   {}
func (holder) release() {}
