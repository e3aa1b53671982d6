package vec

import "unsafe"

// Number is an element type of folds.
type Number interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// chainBytes is the size of one element of every chain.
const chainBytes = 256

// Fold folds x by the associative pair, beginning with identity in every chain: element i belongs to chain i modulo their number, which
// depends on the type alone; then the upper half of the chains is folded onto the lower one until one is left. The loops sum, greatest
// and least do the same.
func Fold[T Number](x []T, identity T, pair func(x, y T) T) T {
	var chains [chainBytes]T
	n := chainBytes / int(unsafe.Sizeof(identity))
	c := chains[:n]
	for i := range c {
		c[i] = identity
	}
	for len(x) >= n {
		for i, v := range x[:n] {
			c[i] = pair(c[i], v)
		}
		x = x[n:]
	}
	for i, v := range x {
		c[i] = pair(c[i], v)
	}
	for n > 1 {
		n /= 2
		for i, v := range c[n : 2*n] {
			c[i] = pair(c[i], v)
		}
	}
	return c[0]
}

// SumOf is Fold by addition from zero.
func SumOf[T Number](x []T) T {
	var chains [chainBytes]T
	n := chainBytes / int(unsafe.Sizeof(chains[0]))
	c := chains[:n]
	for len(x) >= n {
		for i, v := range x[:n] {
			c[i] += v
		}
		x = x[n:]
	}
	for i, v := range x {
		c[i] += v
	}
	for n > 1 {
		n /= 2
		for i, v := range c[n : 2*n] {
			c[i] += v
		}
	}
	return c[0]
}
