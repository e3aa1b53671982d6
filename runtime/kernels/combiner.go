package kernels

// combiner is what a scatter does with an element and its update.
type combiner[T any] struct {
	// rows combines the elements of x with as many of u.
	rows func(x, u []T)
	// lines combines n elements of u for each i with those of x from at[i] on, unless that is negative.
	lines func(x []T, at []int, u []T, n int)
}

// shortLine is the length of lines below which calling a loop over rows takes longer than the loop.
const shortLine = 16

func replacing[T any]() *combiner[T] {
	return &combiner[T]{func(x, u []T) { copy(x, u) }, func(x []T, at []int, u []T, n int) {
		u = u[:len(at)*n]
		for i, o := range at {
			switch {
			case o < 0:
			case n == 1:
				x[o] = u[i]
			case n < shortLine:
				from := u[i*n:][:n]
				for k, v := range from {
					x[o+k] = v
				}
			default:
				copy(x[o:][:n], u[i*n:])
			}
		}
	}}
}

func folding[T any](f *fold[T]) *combiner[T] {
	return &combiner[T]{f.rows, func(x []T, at []int, u []T, n int) {
		for i, o := range at {
			switch {
			case o < 0:
			case n < shortLine:
				for k, v := range u[i*n:][:n] {
					x[o+k] = f.pair(x[o+k], v)
				}
			default:
				f.rows(x[o:][:n], u[i*n:])
			}
		}
	}}
}

// addLines is lines for sums, without a call for each element.
func addLines[T realNumber](rows func(x, u []T)) func(x []T, at []int, u []T, n int) {
	return func(x []T, at []int, u []T, n int) {
		u = u[:len(at)*n]
		if n == 1 {
			for i, v := range u {
				if o := at[i]; o >= 0 {
					x[o] += v
				}
			}
			return
		}
		for i, o := range at {
			switch {
			case o < 0:
			case n < shortLine:
				from := u[i*n:][:n]
				to := x[o:][:n]
				for k, v := range from {
					to[k] += v
				}
			default:
				rows(x[o:][:n], u[i*n:])
			}
		}
	}
}
