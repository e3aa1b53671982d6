//go:build !linux || !amd64

package native

import "unsafe"

func enter(_, _, _ unsafe.Pointer, _ int) { panic("native: no code on this system") }

func enterAndTell(_, _, _ unsafe.Pointer, _ int) bool { panic("native: no code on this system") }

func executable([]byte) (memory []byte, free func([]byte)) { return nil, nil }
