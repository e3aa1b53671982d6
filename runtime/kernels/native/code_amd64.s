//go:build linux

#include "textflag.h"

// func enter(code, slots, spills unsafe.Pointer, n int)
TEXT ·enter(SB), NOSPLIT, $8-32
	MOVQ code+0(FP), R8
	MOVQ slots+8(FP), DI
	MOVQ spills+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ R8, AX
	CALL AX
	RET
