//go:build linux

#include "textflag.h"

// func enter(code, entry, registers, places unsafe.Pointer, rounds int64) (next int64, raised uint32)
TEXT ·enter(SB), NOSPLIT, $16-52
	STMXCSR flags-8(SP)
	TESTL $0x12, flags-8(SP) // metDenormals; setting flags takes long
	JEQ clear
	ANDL $~0x3f, flags-8(SP)
	LDMXCSR flags-8(SP)
clear:
	MOVQ code+0(FP), AX
	MOVQ entry+8(FP), DX
	MOVQ registers+16(FP), DI
	MOVQ places+24(FP), SI
	MOVQ rounds+32(FP), R11
	CALL AX
	MOVQ AX, next+40(FP)
	STMXCSR raised+48(FP)
	RET
