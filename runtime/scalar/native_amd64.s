//go:build linux

#include "textflag.h"

// func enter(code, entry, registers, places unsafe.Pointer, rounds int64) (next int64)
TEXT ·enter(SB), NOSPLIT, $8-48
	MOVQ code+0(FP), AX
	MOVQ entry+8(FP), DX
	MOVQ registers+16(FP), DI
	MOVQ places+24(FP), SI
	MOVQ rounds+32(FP), R11
	CALL AX
	MOVQ AX, next+40(FP)
	RET
