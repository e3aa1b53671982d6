package kernels

import (
	"strings"
	"testing"
)

func TestFusion(t *testing.T) {
	add := "to_apply={ u = f32[] parameter(0) w = f32[] parameter(1) ROOT z = f32[] add(u, w) }"
	for _, c := range []string{
		"f32[8,6] fusion(f32[8,6], f32[6]), kind=kLoop, calls={ a = f32[8,6] parameter(0) b = f32[6] parameter(1) c = f32[8,6] broadcast(b), dimensions={1} " +
			"d = f32[8,6] add(a, c) e = f32[] constant(2) g = f32[8,6] broadcast(e), dimensions={} ROOT h = f32[8,6] multiply(d, g) }",
		"f32[48] fusion(f32[8,6], f32[6]), kind=kLoop, calls={ a = f32[8,6] parameter(0) b = f32[6] parameter(1) c = f32[8,6] broadcast(b), dimensions={1} " +
			"d = f32[8,6] add(a, c) ROOT e = f32[48] reshape(d) }",
		"f32[6,8] fusion(f32[48]), kind=kLoop, calls={ a = f32[48] parameter(0) b = f32[8,6] reshape(a) n = f32[8,6] negate(b) ROOT e = f32[6,8] transpose(n), dimensions={1,0} }",
		"f32[12] fusion(f32[3,4]), kind=kLoop, calls={ a = f32[3,4] parameter(0) b = f32[12] reshape(a) i = s32[12] iota(), iota_dimension=0 j = f32[12] convert(i) ROOT c = f32[12] add(b, j) }",
		"(f32[8], f32[8]) fusion(f32[8]), kind=kLoop, calls={ a = f32[8] parameter(0) b = f32[8] negate(a) c = f32[8] add(a, b) ROOT r = (f32[8], f32[8]) tuple(c, b) }",
		// A rotation, and two that are none: the shifts are not of one number, or do not add up to the width.
		"u32[2100] fusion(u32[2100], u32[2100]), kind=kLoop, calls={ a = u32[2100] parameter(0) c = u32[] constant(13) k = u32[2100] broadcast(c), dimensions={} " +
			"d = u32[] constant(19) m = u32[2100] broadcast(d), dimensions={} l = u32[2100] shift-left(a, k) r = u32[2100] shift-right-logical(a, m) x = u32[2100] or(r, l) " +
			"b = u32[2100] parameter(1) s = u32[2100] shift-right-logical(b, m) y = u32[2100] or(l, s) q = u32[2100] shift-right-logical(a, k) z = u32[2100] or(l, q) " +
			"xy = u32[2100] xor(x, y) ROOT w = u32[2100] subtract(xy, z) }",
		"u64[100] fusion(u64[100]), kind=kLoop, calls={ a = u64[100] parameter(0) c = u64[] constant(60) k = u64[100] broadcast(c), dimensions={} " +
			"d = u64[] constant(4) m = u64[100] broadcast(d), dimensions={} l = u64[100] shift-left(a, k) r = u64[100] shift-right-logical(a, m) ROOT x = u64[100] or(l, r) }",
		"f32[8] fusion(f32[8,600]), kind=kInput, calls={ a = f32[8,600] parameter(0) b = f32[8,600] negate(a) c = f32[] constant(0) " +
			"d = f32[8] reduce(b, c), dimensions={1}, " + add + " ROOT e = f32[8] multiply(d, d) }",
		"f32[8,7] fusion(f32[8,600], f32[600,7], f32[7]), kind=kOutput, calls={ a = f32[8,600] parameter(0) b = f32[600,7] parameter(1) v = f32[7] parameter(2) " +
			"n = f32[8,600] negate(a) d = f32[8,7] dot(n, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} w = f32[8,7] broadcast(v), dimensions={1} ROOT e = f32[8,7] add(d, w) }",
		"(f32[8,600], f32[600]) fusion(f32[8,600]), kind=kInput, calls={ a = f32[8,600] parameter(0) b = f32[8,600] negate(a) c = f32[] constant(0) " +
			"d = f32[600] reduce(b, c), dimensions={0}, " + add + " w = f32[8,600] broadcast(d), dimensions={1} x = f32[8,600] add(b, w) y = f32[600] negate(d) ROOT t = (f32[8,600], f32[600]) tuple(x, y) }",
	} {
		kernelCase{text: c, small: true, tol: 1e-5}.check(t)
	}
}

// TestFusedRotations: rotations of what a fusion computes, along each axis, of each other, behind a reverse, and of complex numbers. A pad makes it
// more than one loop.
func TestFusedRotations(t *testing.T) {
	for typ, one := range map[string]string{"f32": "1", "s8": "1", "c64": "(1, 0)"} {
		for _, root := range []string{"add(d, e)", "reverse(e), dimensions={0,1}"} {
			kernelCase{text: strings.NewReplacer("T[", typ+"[", "ROOT0", root, "ONE", one).Replace("T[30,70] fusion(T[30,70], T[30,70]), kind=kLoop, calls={ a = T[30,70] parameter(0) b = T[30,70] parameter(1) p = T[30,70] multiply(a, b) " +
				"s = T[30,69] slice(p), slice={[0:30], [1:70]} t = T[30,1] slice(p), slice={[0:30], [0:1]} r = T[30,70] concatenate(s, t), dimensions={1} " +
				"u = T[2,70] slice(r), slice={[28:30], [0:70]} v = T[28,70] slice(r), slice={[0:28], [0:70]} q = T[30,70] concatenate(u, v), dimensions={0} " +
				"n = T[30,70] subtract(q, p) w = T[1,70] slice(n), slice={[29:30], [0:70]} x = T[29,70] slice(n), slice={[0:29], [0:70]} y = T[30,70] concatenate(w, x), dimensions={0} " +
				"e = T[30,70] subtract(y, r) z = T[] constant(ONE) f = T[30,70] pad(p, z), padding=1_-1x0_0 d = T[30,70] add(f, n) h = T[30,70] ROOT0 ROOT i = T[30,70] subtract(d, h) }"), tol: 1e-5}.check(t)
		}
	}
}
