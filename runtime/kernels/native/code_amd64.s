//go:build linux

#include "textflag.h"

#define CALL_CODE \
	MOVQ code+0(FP), R8; \
	MOVQ slots+8(FP), DI; \
	MOVQ spills+16(FP), SI; \
	MOVQ n+24(FP), CX; \
	MOVQ R8, AX; \
	CALL AX

// func enter(code, slots, spills unsafe.Pointer, n int)
TEXT ·enter(SB), NOSPLIT, $8-32
	CALL_CODE
	RET

// func enterAndTell(code, slots, spills unsafe.Pointer, n int) (underflow bool)
TEXT ·enterAndTell(SB), NOSPLIT, $16-33
	CALL_CODE
	STMXCSR flags-8(SP)
	TESTL $0x10, flags-8(SP)
	SETNE underflow+32(FP)
	JEQ done
	ANDL $~0x3f, flags-8(SP) // seldom, as it takes long
	LDMXCSR flags-8(SP)
done:
	RET
