package kernels

import (
	"fmt"
	"strings"
	"testing"
)

// TestFFT compares with the evaluator, which computes in f64, relative to the largest element.
func TestFFT(t *testing.T) {
	for _, c := range []struct {
		reals, complexes string
		tol              float64
	}{{"f32", "c64", 1e-6}, {"f64", "c128", 1e-15}} {
		for _, n := range []int{1, 2, 3, 8, 12, 21, 60, 64, 100, 128, 256, 300, 1024, 16384, 30000, 17, 101, 8691, 10403, 17000, 10007} {
			for _, lines := range []int{1, 3, 8, 17} {
				if n > 1024 && (lines > 3 || n > 8000 && lines > 1) {
					continue
				}
				whole, half := fmt.Sprintf("%s[%d,%d]", c.complexes, lines, n), fmt.Sprintf("%s[%d,%d]", c.complexes, lines, n/2+1)
				real := fmt.Sprintf("%s[%d,%d]", c.reals, lines, n)
				for _, text := range []string{
					fmt.Sprintf("%s fft(%[1]s), fft_type=FFT, fft_length={%[2]d}", whole, n),
					fmt.Sprintf("%s fft(%[1]s), fft_type=IFFT, fft_length={%[2]d}", whole, n),
					fmt.Sprintf("%s fft(%s), fft_type=RFFT, fft_length={%d}", half, real, n),
					fmt.Sprintf("%s fft(%s), fft_type=IRFFT, fft_length={%d}", real, half, n),
				} {
					// Operands of c128 are for the random programs: these here are not made.
					if c.reals == "f64" && !strings.Contains(text, "RFFT, ") || strings.Contains(text, "IRFFT") {
						continue
					}
					tol := c.tol * 4
					if n == 17 || n == 101 || n == 8691 || n > 10000 && n != 16384 && n != 30000 { // one side or both go through longer lines
						tol *= 4
					}
					kernelCase{text: text, tol: tol}.check(t)
				}
			}
		}
	}
	for _, text := range []string{
		"c64[3,20,12] fft(c64[3,20,12]), fft_type=FFT, fft_length={20,12}",
		"c64[2,5,6,7] fft(c64[2,5,6,7]), fft_type=IFFT, fft_length={5,6,7}",
		"c64[3,77,26] fft(c64[3,77,26]), fft_type=IFFT, fft_length={77,26}", "c64[134,19] fft(c64[134,19]), fft_type=IFFT, fft_length={134,19}",
		"c64[286,14] fft(f32[286,26]), fft_type=RFFT, fft_length={286,26}",
		"c64[16,9] fft(f32[16,16]), fft_type=RFFT, fft_length={16,16}",
		"c64[3,15,9] fft(f32[3,15,16]), fft_type=RFFT, fft_length={15,16}",
		"f32[3,15,16] fft(c64[3,15,9]), fft_type=IRFFT, fft_length={15,16}",
		"f32[4,6,15] fft(c64[4,6,8]), fft_type=IRFFT, fft_length={4,6,15}",
		"f32[2,3000] fft(c64[2,1501]), fft_type=IRFFT, fft_length={3000}", "f32[375] fft(c64[188]), fft_type=IRFFT, fft_length={375}",
		"f32[3,20000] fft(c64[3,10001]), fft_type=IRFFT, fft_length={20000}", "c64[2,600,3] fft(c64[2,600,3]), fft_type=IFFT, fft_length={600,3}",
	} {
		kernelCase{text: text, tol: 4e-6}.check(t)
	}
}
