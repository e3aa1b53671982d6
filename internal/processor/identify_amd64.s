#include "textflag.h"

// func identify(function uint32) (eax, ebx uint32)
TEXT ·identify(SB), NOSPLIT, $0-16
	MOVL function+0(FP), AX
	XORL CX, CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL BX, ebx+12(FP)
	RET
