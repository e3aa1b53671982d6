//go:build !linux || !amd64

package scalar

import "unsafe"

var hasNative = false

// makeNative does nothing: programs are interpreted here.
func (p *Program) makeNative() {}

func enter(_, _, _, _ unsafe.Pointer, _ int64) (int64, uint32) {
	panic("scalar: no native programs on this system")
}
