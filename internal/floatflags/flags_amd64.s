#include "textflag.h"

// func get(mode *uint32)
TEXT ·get(SB), NOSPLIT, $0-8
	MOVQ mode+0(FP), AX
	STMXCSR (AX)
	RET

// func set(mode *uint32)
TEXT ·set(SB), NOSPLIT, $0-8
	MOVQ mode+0(FP), AX
	LDMXCSR (AX)
	RET
