package kernels

import "slices"

// Running folds of lines that follow each other. A line waits for the sum before each of its elements, so long lines go four at a time.

// scanTogether is the length of lines from which four are folded at a time.
const scanTogether = 6

// sumLines sets each element of y to the sum of first and the elements of its line of x, of n elements, up to there, from the front or from the back.
func sumLines[T foldedNumber](y, x []T, n int, reverse bool, first T) {
	at := len(y)
	if n >= scanTogether {
		at %= 4 * n
		if reverse {
			sumFourBack(y[at:], x[at:], n, first)
		} else {
			sumFour(y[at:], x[at:], n, first)
		}
	}
	y, x = y[:at], x[:at]
	k := 0
	if reverse {
		for k = len(y) - 1; k >= 0; {
			sum := first
			for range n {
				sum += x[k]
				y[k] = sum
				k--
			}
		}
		return
	}
	for k < len(y) {
		sum := first
		for range n {
			sum += x[k]
			y[k] = sum
			k++
		}
	}
}

func sumFour[T foldedNumber](y, x []T, n int, first T) {
	for ; len(y) > 0; y, x = y[4*n:], x[4*n:] {
		x0, x1, x2, x3 := x[:n], x[n:][:n], x[2*n:][:n], x[3*n:][:n]
		y0, y1, y2, y3 := y[:n], y[n:][:n], y[2*n:][:n], y[3*n:][:n]
		a, b, c, d := first, first, first, first
		for i := range x0 {
			a += x0[i]
			b += x1[i]
			c += x2[i]
			d += x3[i]
			y0[i], y1[i], y2[i], y3[i] = a, b, c, d
		}
	}
}

func sumFourBack[T foldedNumber](y, x []T, n int, first T) {
	for ; len(y) > 0; y, x = y[4*n:], x[4*n:] {
		x0, x1, x2, x3 := x[:n], x[n:][:n], x[2*n:][:n], x[3*n:][:n]
		y0, y1, y2, y3 := y[:n], y[n:][:n], y[2*n:][:n], y[3*n:][:n]
		a, b, c, d := first, first, first, first
		for i := range slices.Backward(x0) {
			a += x0[i]
			b += x1[i]
			c += x2[i]
			d += x3[i]
			y0[i], y1[i], y2[i], y3[i] = a, b, c, d
		}
	}
}

// multiplyLines is sumLines of products.
func multiplyLines[T foldedNumber](y, x []T, n int, reverse bool, first T) {
	k, step := 0, 1
	if reverse {
		k, step = len(y)-1, -1
	}
	for range len(y) / n {
		product := first
		for range n {
			product *= x[k]
			y[k] = product
			k += step
		}
	}
}
