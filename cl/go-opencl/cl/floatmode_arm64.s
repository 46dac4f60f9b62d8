//go:build !noopencl

#include "textflag.h"

// func floatMode() uint32
TEXT ·floatMode(SB), NOSPLIT, $0-4
	MOVD FPCR, R0
	MOVW R0, ret+0(FP)
	RET

// func setFloatMode(mode uint32)
TEXT ·setFloatMode(SB), NOSPLIT, $0-4
	MOVWU mode+0(FP), R0
	MOVD R0, FPCR
	RET
