package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDot(t *testing.T) {
	for _, typ := range []string{"f32", "f64", "bf16", "f16", "s32", "u32", "u8", "s8", "s16", "s64", "c64", "c128", "f8e5m2"} {
		for _, c := range []string{
			"T[3,5] dot(T[3,4], T[4,5]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[3,5] dot(T[4,3], T[5,4]), lhs_contracting_dims={0}, rhs_contracting_dims={1}",
			"T[70,90] dot(T[70,65], T[65,90]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[6,3,5] dot(T[6,3,4], T[6,4,5]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
			"T[6,3,5] dot(T[3,6,4], T[4,5,6]), lhs_batch_dims={1}, rhs_batch_dims={2}, lhs_contracting_dims={2}, rhs_contracting_dims={0}",
			"T[3,2] dot(T[3,4,5], T[4,2,5]), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,2}",
			"T[] dot(T[40], T[40]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"T[700] dot(T[30], T[30,700]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"T[700] dot(T[700,30], T[30]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[7] dot(T[30,7], T[30]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"T[3,4] dot(T[3], T[4]), lhs_contracting_dims={}, rhs_contracting_dims={}",
			"T[3,4] dot(T[3,0], T[0,4]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[5,300] dot(T[5,800], T[800,300]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		} {
			kernelCase{text: replaceType(c, typ), small: true, tol: 1e-2}.check(t)
			if typ == "u8" || typ == "s16" || typ == "s8" { // into a wider type, wrapping
				kernelCase{text: "s32" + replaceType(c, typ)[len(typ):]}.check(t)
			}
		}
	}
	for _, types := range [][2]string{{"bf16", "f32"}, {"s8", "u32"}, {"f32", "f64"}} {
		kernelCase{text: fmt.Sprintf("%s[9,8] dot(%s[9,33], %s[33,8]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			types[1], types[0], types[0]), small: true}.check(t)
	}
}

// TestDotOfBytes has all combinations of signs, of matrices and vectors in all orders, with common dimensions that are no multiples of four and longer than a step.
func TestDotOfBytes(t *testing.T) {
	for _, types := range [][3]string{{"s32", "s8", "s8"}, {"s32", "u8", "s8"}, {"s32", "s8", "u8"}, {"u32", "u8", "u8"}, {"s8", "s8", "u8"}, {"u16", "s8", "u8"}} {
		for _, c := range []string{
			"[9,70] dot([9,33], [33,70]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"[9,7] dot([40,9], [7,40]), lhs_contracting_dims={0}, rhs_contracting_dims={1}",
			"[70,90] dot([70,1300], [1300,90]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"[300,90] dot([300,1026], [90,1026]), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
			"[3,20,40] dot([3,20,28], [3,28,40]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
			"[3,20,40] dot([3,20,7], [3,40,7]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}",
			"[6,3,5] dot([3,6,4], [4,5,6]), lhs_batch_dims={1}, rhs_batch_dims={2}, lhs_contracting_dims={2}, rhs_contracting_dims={0}",
			"[700] dot([1030], [1030,700]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"[700] dot([700,300], [300]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"[2,70] dot([2,70,30], [2,30]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
			"[] dot([40], [40]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"[40,3,3] dot([40,3,5], [40,5,3]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
			"[3,4] dot([3,0], [0,4]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		} {
			kernelCase{text: typed(c, types)}.check(t)
		}
	}
}

// TestDotOfSmallMatrices multiplies batches that are computed side by side, with batches that do not fill a line, and operands that lie in all orders.
func TestDotOfSmallMatrices(t *testing.T) {
	for _, typ := range []string{"f32", "f64", "bf16", "f16", "s32", "u8", "s64", "c64", "c128"} {
		for _, c := range []string{
			"T[16,3,3] dot(T[16,3,3], T[16,3,3]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
			"T[300,3,5] dot(T[300,4,3], T[300,5,4]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={2}",
			"T[70,3,4] dot(T[3,70,2], T[2,4,70]), lhs_batch_dims={1}, rhs_batch_dims={2}, lhs_contracting_dims={2}, rhs_contracting_dims={0}",
			"T[70,3,4] dot(T[3,2,70], T[2,4,70]), lhs_batch_dims={2}, rhs_batch_dims={2}, lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[9,4,3,3] dot(T[9,3,4,2], T[4,9,2,3]), lhs_batch_dims={0,2}, rhs_batch_dims={1,0}, lhs_contracting_dims={3}, rhs_contracting_dims={2}",
			"T[20,3,3] dot(T[20,2,3,2], T[20,2,2,3]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1,3}, rhs_contracting_dims={1,2}",
			"T[1000,3] dot(T[1000,3,3], T[1000,3]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
			"T[40,9] dot(T[40,10], T[40,9,10]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={2}",
			"T[33] dot(T[33,100], T[33,100]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}",
			"T[33,2,3] dot(T[33,2], T[33,3]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={}, rhs_contracting_dims={}",
			"T[130,8,8] dot(T[130,8,8], T[130,8,8]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
		} {
			kernelCase{text: replaceType(c, typ), small: true, tol: 1e-2}.check(t)
		}
	}
}

// TestDotWithoutSums has dots of complex numbers that contract nothing, with batches and without, whose axes lie in any order.
func TestDotWithoutSums(t *testing.T) {
	kernelCase{text: "c64[3,30,512] dot(c64[3,30], c64[3,512]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={}, rhs_contracting_dims={}"}.check(t)
	for _, typ := range []string{"c64", "c128"} {
		for _, c := range []string{
			"T[30,70] dot(T[30], T[70]), lhs_contracting_dims={}, rhs_contracting_dims={}",
			"T[3,4,5,6] dot(T[3,4], T[5,6]), lhs_contracting_dims={}, rhs_contracting_dims={}",
			"T[5,3,4] dot(T[3,5], T[5,4]), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={}, rhs_contracting_dims={}",
			"T[5,6] dot(T[6,5], T[5,6]), lhs_batch_dims={1,0}, rhs_batch_dims={0,1}, lhs_contracting_dims={}, rhs_contracting_dims={}",
			"T[3] dot(T[], T[3]), lhs_contracting_dims={}, rhs_contracting_dims={}",
		} {
			kernelCase{text: replaceType(c, typ), small: true}.check(t)
			_, ok := dotWithoutSums(siteOf(t, replaceType(c, typ)))
			require.Equal(t, typ == "c128", ok, c)
		}
	}
}

// TestDotOfVectors has dots without free axes, in all orders of their axes, of which the long ones are sums in parts.
func TestDotOfVectors(t *testing.T) {
	for _, typ := range []string{"f32", "f64", "bf16", "f16", "s32", "u8", "s64", "c64", "c128"} {
		for _, c := range []string{
			"T[] dot(T[70,33], T[33,70]), lhs_contracting_dims={0,1}, rhs_contracting_dims={1,0}",
			"T[] dot(T[7,5,6], T[6,7,5]), lhs_contracting_dims={0,1,2}, rhs_contracting_dims={1,2,0}",
			"T[] dot(T[7,5,6], T[5,7,6]), lhs_contracting_dims={0,1,2}, rhs_contracting_dims={1,0,2}",
			"T[] dot(T[40000], T[40000]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"T[90] dot(T[40,90], T[40,90]), lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"T[40] dot(T[40,90], T[90,40]), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[9] dot(T[9,20,30], T[9,30,20]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2,1}, rhs_contracting_dims={1,2}",
			"T[6,5] dot(T[5,6,33], T[5,33,6]), lhs_batch_dims={1,0}, rhs_batch_dims={2,0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
			"T[6,5] dot(T[5,6,33], T[6,33,5]), lhs_batch_dims={1,0}, rhs_batch_dims={0,2}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
			"T[0] dot(T[5,0], T[0,5]), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={0}, rhs_contracting_dims={1}",
		} {
			kernelCase{text: replaceType(c, typ), small: true, tol: 1e-2}.check(t)
			if typ == "u8" || typ == "bf16" {
				wide := map[string]string{"u8": "s32", "bf16": "f32"}[typ]
				kernelCase{text: wide + replaceType(c, typ)[len(typ):], small: true, tol: 1e-2}.check(t)
			}
		}
	}
}

// TestDotOfFewRows reads matrices that fit no cache row by row.
func TestDotOfFewRows(t *testing.T) {
	for _, c := range []string{
		"c64[3,300] dot(c64[3,101], c64[101,300]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		"c128[8,32] dot(c128[70,8], c128[70,32]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
		"c64[2,2,257] dot(c64[2,2,8], c64[2,8,257]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
		"f32[3,1100] dot(f32[3,1001], f32[1001,1100]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		"f32[8,2049] dot(f32[530,8], f32[530,2049]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
		"f64[2,2,1024] dot(f64[2,2,515], f64[2,515,1024]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
		"bf16[2,1100] dot(bf16[2,1000], bf16[1000,1100]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
	} {
		kernelCase{text: c, small: true}.check(t)
	}
}

// TestDotInPlace has left sides that are read where they are, by rows and by columns, with the last panel of rows and of columns in part, over more than a step of the
// common dimension, and those that are so no longer: with more columns, and with lines whole pages apart.
func TestDotInPlace(t *testing.T) {
	for _, typ := range []string{"f32", "f64"} {
		for _, c := range []string{
			"T[195,130] dot(T[195,270], T[270,130]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[195,130] dot(T[195,270], T[130,270]), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
			"T[195,130] dot(T[270,195], T[270,130]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"T[300,251] dot(T[300,70], T[70,251]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[300,251] dot(T[70,300], T[251,70]), lhs_contracting_dims={0}, rhs_contracting_dims={1}",
			"T[1024,70] dot(T[33,1024], T[33,70]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"T[1100,1030] dot(T[1100,9], T[1030,9]), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
			"T[3,200,90] dot(T[3,200,40], T[3,90,40]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}",
			// Those whose right side is: few long rows.
			"T[35,171] dot(T[35,300], T[171,300]), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
			"T[35,171] dot(T[90,35], T[171,90]), lhs_contracting_dims={0}, rhs_contracting_dims={1}",
			"T[2,33,140] dot(T[2,33,70], T[2,140,70]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}",
			"T[2,33,140] dot(T[33,2,70], T[140,2,70]), lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}",
		} {
			kernelCase{text: replaceType(c, typ), small: true}.check(t)
		}
	}
}
