package kernels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

func TestElementwise(t *testing.T) {
	for _, level := range levels() {
		t.Run(level.String(), func(t *testing.T) {
			defer vec.Use(level)()
			testElementwise(t)
		})
	}
}

func testElementwise(t *testing.T) {
	sizes := []string{"0", "1", "7", "1023", "3,5,700", ""}
	floats := []string{"f32", "f64", "f16", "bf16", "f8e5m2", "f8e4m3fn"}
	ints := []string{"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}
	binary := func(op hlo.Opcode, types []string, tol float64) {
		for _, typ := range types {
			for _, size := range sizes {
				kernelCase{text: fmt.Sprintf("%s[%s] %v(%s[%s], %s[%s])", typ, size, op, typ, size, typ, size), tol: tol}.check(t)
			}
		}
	}
	for _, op := range []hlo.Opcode{hlo.OpAdd, hlo.OpSubtract, hlo.OpMultiply, hlo.OpMaximum, hlo.OpMinimum, hlo.OpDivide, hlo.OpRemainder} {
		binary(op, append(ints, floats...), 0)
	}
	for _, op := range []hlo.Opcode{hlo.OpAnd, hlo.OpOr, hlo.OpXor} {
		binary(op, append(ints, "pred"), 0)
	}
	for _, op := range []hlo.Opcode{hlo.OpPower, hlo.OpShiftLeft, hlo.OpShiftRightArithmetic, hlo.OpShiftRightLogical} {
		binary(op, ints, 0)
	}
	for _, op := range []hlo.Opcode{hlo.OpPower, hlo.OpAtan2} {
		binary(op, []string{"f32", "f64", "bf16"}, 1e-6)
	}
	unary := func(op hlo.Opcode, types []string, tol float64) {
		for _, typ := range types {
			for _, size := range sizes {
				kernelCase{text: fmt.Sprintf("%s[%s] %v(%s[%s])", typ, size, op, typ, size), tol: tol}.check(t)
			}
		}
	}
	for _, op := range []hlo.Opcode{hlo.OpNegate, hlo.OpSign} {
		unary(op, append(ints, floats...), 0)
	}
	unary(hlo.OpAbs, append([]string{"s8", "s16", "s32", "s64"}, floats...), 0)
	unary(hlo.OpNot, append(ints, "pred"), 0)
	unary(hlo.OpPopcnt, ints, 0)
	unary(hlo.OpCountLeadingZeros, ints, 0)
	for _, op := range []hlo.Opcode{hlo.OpFloor, hlo.OpCeil, hlo.OpRoundNearestAfz, hlo.OpRoundNearestEven, hlo.OpSqrt} {
		unary(op, floats, 0)
	}
	for _, op := range []hlo.Opcode{hlo.OpExponential, hlo.OpLogistic, hlo.OpTanh, hlo.OpRsqrt, hlo.OpLog, hlo.OpSine, hlo.OpErf, hlo.OpTan} {
		unary(op, []string{"f32"}, 2e-7)
		unary(op, []string{"bf16", "f16"}, 0.01)
	}
	for _, op := range []hlo.Opcode{hlo.OpSine, hlo.OpCosine, hlo.OpTan} {
		unary(op, []string{"f64"}, 1e-15)
	}
}

func TestElementwiseTypes(t *testing.T) {
	for _, level := range levels() {
		t.Run(level.String(), func(t *testing.T) {
			defer vec.Use(level)()
			testElementwiseTypes(t)
		})
	}
}

func testElementwiseTypes(t *testing.T) {
	types := []string{"pred", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3fn"}
	for _, from := range types {
		for _, to := range types {
			if from != to {
				kernelCase{text: fmt.Sprintf("%s[2100] convert(%s[2100])", to, from)}.check(t)
			}
		}
		for _, to := range []string{"c64", "c128"} {
			kernelCase{text: fmt.Sprintf("%s[2100] convert(%s[2100])", to, from)}.check(t)
		}
		for _, dir := range []string{"EQ", "NE", "LT", "LE", "GT", "GE"} {
			kernelCase{text: fmt.Sprintf("pred[1500] compare(%s[1500], %s[1500]), direction=%s", from, from, dir)}.check(t)
		}
		kernelCase{text: fmt.Sprintf("%s[1500] select(pred[1500], %s[1500], %s[1500])", from, from, from)}.check(t)
		kernelCase{text: fmt.Sprintf("%s[1500] select(pred[], %s[1500], %s[1500])", from, from, from)}.check(t)
		kernelCase{text: fmt.Sprintf("%s[1500] clamp(%s[], %s[1500], %s[1500])", from, from, from, from)}.check(t)
	}
	for _, from := range []string{"f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3fn"} {
		for _, dir := range []string{"EQ", "LT", "GE"} {
			kernelCase{text: fmt.Sprintf("pred[1500] compare(%s[1500], %s[1500]), direction=%s, type=TOTALORDER", from, from, dir)}.check(t)
		}
		kernelCase{text: fmt.Sprintf("pred[1500] is-finite(%s[1500])", from)}.check(t)
	}
	for _, c := range []string{
		"f32[100] real(c64[100])", "f32[100] imag(c64[100])", "f32[2100] abs(c64[2100])", "f64[2100] abs(c128[2100])", "f64[700] real(c128[700])", "f64[701] imag(c128[701])", "c128[703] complex(f64[703], f64[703])", "c128[2100] divide(c128[2100], c128[2100])", "c64[2100] convert(f32[2100])", "c128[100] convert(f64[100])", "c64[100] complex(f32[100], f32[100])",
		"c64[100] add(c64[100], c64[100])", "c64[1100] multiply(c64[1100], c64[1100])", "c128[1100] multiply(c128[1100], c128[1100])",
		"c64[1101] negate(c64[1101])", "c128[101] subtract(c128[101], c128[101])", "f32[2100] real(c64[2100])", "f32[2100] imag(c64[2100])",
		"c64[2100] complex(f32[2100], f32[2100])", "s32[100] bitcast-convert(f32[100])", "u16[4] bitcast-convert(bf16[4])",
		"f32[1000] reduce-precision(f32[1000]), exponent_bits=5, mantissa_bits=10", "f32[1000] reduce-precision(f32[1000]), exponent_bits=8, mantissa_bits=0",
		"f32[1000] reduce-precision(f32[1000]), exponent_bits=2, mantissa_bits=23", "f64[1000] reduce-precision(f64[1000]), exponent_bits=8, mantissa_bits=23",
		"f64[1000] reduce-precision(f64[1000]), exponent_bits=11, mantissa_bits=60", "bf16[1000] reduce-precision(bf16[1000]), exponent_bits=5, mantissa_bits=3",
		"bf16[1000] reduce-precision(bf16[1000]), exponent_bits=9, mantissa_bits=0", "f16[1000] reduce-precision(f16[1000]), exponent_bits=3, mantissa_bits=3",
		"f16[1000] reduce-precision(f16[1000]), exponent_bits=5, mantissa_bits=12",
	} {
		kernelCase{text: c}.check(t)
	}
}

// TestBitcastsWithinLoops reads the bits of one type as another in the middle of a loop, with code and without.
func TestBitcastsWithinLoops(t *testing.T) {
	pairs := [][2]string{{"f32", "u32"}, {"s32", "f32"}, {"f64", "s64"}, {"u64", "f64"}, {"bf16", "u16"}, {"s16", "f16"}, {"bf16", "f16"}, {"f16", "bf16"}, {"s32", "u32"},
		{"f8e5m2", "s8"}, {"u8", "f8e4m3fn"}, {"f8e5m2", "f8e4m3fn"}}
	onEveryPath(func() {
		for _, shape := range []string{"3,1037", "5"} {
			for _, p := range pairs {
				for _, body := range []string{
					"a = A[S] negate(y) p = pred[S] compare(x, y), direction=LT s = A[S] select(p, x, a) ROOT r = B[S] bitcast-convert(s)",
					"a = A[S] negate(x) b = B[S] bitcast-convert(a) c = B[S] bitcast-convert(y) p = pred[S] compare(x, y), direction=LT ROOT r = B[S] select(p, b, c)",
					"b = B[S] bitcast-convert(x) c = B[S] negate(b) d = A[S] bitcast-convert(c) e = A[S] negate(y) ROOT r = pred[S] compare(d, e), direction=LT",
				} {
					result := "B[S]"
					if strings.Contains(body, "r = pred") {
						result = "pred[S]"
					}
					text := result + " fusion(A[S], A[S]), kind=kLoop, calls={ x = A[S] parameter(0) y = A[S] parameter(1) " + body + " }"
					kernelCase{text: strings.NewReplacer("[S]", "["+shape+"]", "A", p[0], "B", p[1]).Replace(text)}.check(t)
				}
			}
		}
	})
}

// TestCodes does with narrow floats what their codes are enough for, alone and beside what needs their numbers, and chooses by truth values of elements and of rows.
func TestCodes(t *testing.T) {
	onEveryPath(func() {
		for _, typ := range []string{"bf16", "f16", "f32", "f64", "u8", "f8e5m2"} {
			for _, shape := range []string{"30,37", "5,3", "700,2", "9,128"} {
				rows := shape[:strings.IndexByte(shape, ',')]
				for _, body := range []string{
					"ROOT r = T[S] select(p, x, y)", "n = T[S] negate(x) a = T[S] abs(y) ROOT r = T[S] select(p, n, a)", "c = T[] constant(-0) b = T[S] broadcast(c), dimensions={} ROOT r = T[S] select(p, x, b)",
					"q = pred[S] broadcast(m), dimensions={0} ROOT r = T[S] select(q, x, y)", "q = pred[S] broadcast(m), dimensions={0} a = pred[S] and(p, q) n = T[S] negate(x) ROOT r = T[S] select(a, n, y)",
					"q = pred[S] broadcast(m), dimensions={0} o = pred[S] not(q) n = T[S] add(x, y) ROOT r = T[S] select(o, n, y)",
					"n = T[S] negate(x) s = T[S] add(n, y) ROOT r = T[S] select(p, s, n)", "n = T[S] negate(x) ROOT r = (T[S], T[S]) tuple(x, n)",
				} {
					result := "T[S]"
					if strings.Contains(body, "tuple") {
						result = "(T[S], T[S])"
					}
					text := result + " fusion(T[S], T[S], pred[S], pred[R]), kind=kLoop, calls={ x = T[S] parameter(0) y = T[S] parameter(1) p = pred[S] parameter(2) m = pred[R] parameter(3) " + body + " }"
					if typ == "u8" && strings.Contains(body, "abs") {
						continue
					}
					text = strings.NewReplacer("[S]", "["+shape+"]", "[R]", "["+rows+"]", "constant(-0)", map[bool]string{true: "constant(0)", false: "constant(-0)"}[typ == "u8"]).Replace(text)
					kernelCase{text: replaceType(text, typ), tol: 1e-6}.check(t)
				}
			}
		}
	})
}

// TestCodesOfSigns takes copysign of bf16 apart, as jax.numpy writes it.
func TestCodesOfSigns(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, typ := range []string{"bf16", "f16"} {
			text := "T[1037] fusion(T[1037], T[1037]), kind=kLoop, calls={ x = T[1037] parameter(0) y = T[1037] parameter(1) i = s16[1037] bitcast-convert(y) c = s16[] constant(15) b = s16[1037] broadcast(c), dimensions={} " +
				"s = s16[1037] shift-right-arithmetic(i, b) z = s16[] constant(0) o = s16[1037] broadcast(z), dimensions={} p = pred[1037] compare(s, o), direction=NE a = T[1037] abs(x) n = T[1037] negate(a) ROOT r = T[1037] select(p, n, a) }"
			kernelCase{text: replaceType(text, typ)}.check(t)
		}
		restore()
	}
}

// TestCodesOfNumbers asks bf16 and f16 whether they are equal, as jax.numpy's nextafter does.
func TestCodesOfNumbers(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, typ := range []string{"bf16", "f16"} {
			text := "T[1037] fusion(T[1037], T[1037]), kind=kLoop, calls={ x = T[1037] parameter(0) y = T[1037] parameter(1) n = T[1037] negate(x) p = pred[1037] compare(x, x), direction=NE " +
				"e = pred[1037] compare(x, y), direction=EQ i = s16[1037] bitcast-convert(x) c = s16[] constant(1) b = s16[1037] broadcast(c), dimensions={} o = s16[1037] add(i, b) " +
				"q = s16[1037] bitcast-convert(y) s = s16[1037] select(e, q, o) r = s16[1037] select(p, i, s) f = T[1037] bitcast-convert(r) ROOT g = T[1037] select(e, n, f) }"
			kernelCase{text: replaceType(text, typ)}.check(t)
		}
		restore()
	}
}

func TestDataMovement(t *testing.T) {
	for _, typ := range []string{"pred", "u8", "bf16", "f32", "f64", "c64", "f8e4m3fn"} {
		for _, c := range []string{
			"T[5,700] broadcast(T[700]), dimensions={1}", "T[700,5] broadcast(T[700]), dimensions={0}", "T[33,44] broadcast(T[]), dimensions={}",
			"T[3,4,5,6] broadcast(T[4,6]), dimensions={1,3}", "T[2,0] broadcast(T[2]), dimensions={0}", "T[] broadcast(T[]), dimensions={}",
			"T[4,3,2] broadcast(T[2,4]), dimensions={2,0}",
			"T[70,50] transpose(T[50,70]), dimensions={1,0}", "T[3,5,4,7] transpose(T[4,7,3,5]), dimensions={2,3,0,1}",
			"T[3,50,40] transpose(T[40,3,50]), dimensions={1,2,0}", "T[40,3,50,2] transpose(T[2,3,50,40]), dimensions={3,1,2,0}", "T[200,130] transpose(T[130,200]), dimensions={1,0}", "T[2,65,3,33] transpose(T[2,33,65,3]), dimensions={0,2,3,1}",
			"T[7,3] slice(T[20,9]), slice={[1:20:3], [2:5]}", "T[0] slice(T[4]), slice={[2:2]}",
			"T[5,6,7] reverse(T[5,6,7]), dimensions={0,2}", "T[9] reverse(T[9]), dimensions={0}",
			"T[1000,4] broadcast(T[1000]), dimensions={0}", "T[999,3] broadcast(T[3]), dimensions={1}", "T[70,6,5] broadcast(T[70,5]), dimensions={0,2}",
			"T[1001,6] broadcast(T[1001]), dimensions={0}", "T[900,2] broadcast(T[900]), dimensions={0}", "T[300,4,3] broadcast(T[300,3]), dimensions={0,2}", "T[130,3,12] broadcast(T[130,12]), dimensions={0,2}",
			"T[900,2] slice(T[901,4]), slice={[1:901], [1:3]}", "T[3000] reverse(T[3000]), dimensions={0}", "T[40,3,3] reverse(T[40,3,3]), dimensions={1,2}",
			"T[700] slice(T[1400]), slice={[1:1400:2]}", "T[7,100] slice(T[7,400]), slice={[0:7], [3:400:4]}", "T[500,3] transpose(T[3,500]), dimensions={1,0}",
			"T[7,100] slice(T[7,800]), slice={[0:7], [0:799:8]}", "T[31,11] slice(T[62,33]), slice={[0:62:2], [0:33:3]}",
			"T[9,200,3] transpose(T[9,3,200]), dimensions={0,2,1}", "T[5,3,300] transpose(T[5,300,3]), dimensions={0,2,1}", "T[5,300,4] transpose(T[5,4,300]), dimensions={0,2,1}",
			"T[4,30,2,40,2] transpose(T[4,2,2,30,40]), dimensions={0,3,1,4,2}", "T[300,16,4] transpose(T[300,4,16]), dimensions={0,2,1}", "T[60,5,9] transpose(T[60,9,5]), dimensions={0,2,1}",
			"T[6,7] copy(T[6,7])", "T[42] reshape(T[6,7])", "T[6,7]{1,0} bitcast(T[42])",
		} {
			kernelCase{text: replaceType(c, typ)}.check(t)
		}
	}
	kernelCase{text: "f32[5,7] map(f32[5,7], f32[5,7]), dimensions={0,1}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) " +
		"c = f32[] multiply(a, b) ROOT d = f32[] add(c, a) }"}.check(t)
	for _, typ := range []string{"u8", "s32", "f32", "bf16", "f64"} {
		for d := range 2 {
			kernelCase{text: fmt.Sprintf("%s[40,70] iota(), iota_dimension=%d", typ, d)}.check(t)
		}
	}
}

// TestBrain computes with bf16 that steps read and write as it is in memory: both operands or one of them, once or more often, rounded on the way or in the
// end, with rests of vectors, and reduced instead of stored.
func TestBrain(t *testing.T) {
	const parameters = "x = bf16[S] parameter(0) y = bf16[S] parameter(1) "
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, shape := range []string{"3,1037", "5", "2,2048"} {
			for _, body := range []string{
				"ROOT r = bf16[S] OP(x, y)", "ROOT r = bf16[S] OP(x, x)", "a = bf16[S] OP(x, y) ROOT r = bf16[S] add(a, x)", "a = bf16[S] OP(x, y) ROOT r = bf16[S] subtract(y, a)",
				"n = bf16[S] negate(y) ROOT r = bf16[S] OP(x, n)", "n = bf16[S] negate(y) ROOT r = bf16[S] OP(n, x)", "a = bf16[S] OP(x, y) b = bf16[S] multiply(a, a) ROOT r = bf16[S] add(a, b)",
				"f = f32[S] convert(x) g = f32[S] convert(y) h = f32[S] OP(f, g) ROOT r = bf16[S] convert(h)", "f = f32[S] convert(x) g = f32[S] sine(f) h = f32[S] OP(f, g) ROOT r = f32[S] OP(h, h)",
				"h = f16[S] convert(x) g = f16[S] convert(y) ROOT r = f16[S] OP(h, g)", "a = bf16[S] OP(x, y) n = bf16[S] negate(a) ROOT r = (bf16[S], bf16[S]) tuple(a, n)",
			} {
				for _, op := range []string{"add", "subtract", "multiply", "divide"} {
					result := "bf16[S]"
					for _, typ := range []string{"f16[S]", "f32[S]", "(bf16[S], bf16[S])"} {
						if strings.Contains(body, "r = "+typ) {
							result = typ
						}
					}
					text := result + " fusion(bf16[S], bf16[S]), kind=kLoop, calls={ " + parameters + body + " }"
					kernelCase{text: strings.NewReplacer("[S]", "["+shape+"]", "OP", op).Replace(text), tol: 1e-6}.check(t)
				}
			}
			axes := "{0}"
			if strings.Contains(shape, ",") {
				axes = "{0,1}"
			}
			text := "bf16[] fusion(bf16[S], bf16[S], bf16[]), kind=kInput, calls={ " + parameters + "i = bf16[] parameter(2) a = bf16[S] subtract(x, y) " +
				"b = bf16[S] multiply(a, x) ROOT r = bf16[] reduce(b, i), dimensions=" + axes + ", to_apply=" + replaceType(reducer("maximum"), "bf16") + " }"
			kernelCase{text: strings.ReplaceAll(text, "[S]", "["+shape+"]")}.check(t)
		}
		restore()
	}
}
