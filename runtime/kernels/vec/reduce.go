package vec

import (
	"math/bits"
	"unsafe"
)

// Number is an element type of folds.
type Number interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// chainBytes is the size of one element of every chain.
const chainBytes = 256

// Fold folds x by the associative pair, beginning with identity in every chain: element i belongs to chain i modulo their number, which
// depends on the type alone; then the upper half of the chains is folded onto the lower one until one is left. The folding loops of
// add, maximum and minimum do the same.
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
	var zero T
	n := chainBytes / int(unsafe.Sizeof(zero))
	if len(x) <= min(n, fewElements) {
		return sumFew(x)
	}
	var chains [chainBytes]T
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

// fewElements is the number of elements up to which a sum needs no chains of its own.
const fewElements = 64

// sumFew is SumOf where each element has a chain for itself: the chains without elements, and the zeros at which the others begin, change nothing but the
// sign of a sum that is zero.
func sumFew[T Number](x []T) T {
	var zero T
	if len(x) < 2 {
		for _, v := range x {
			zero += v
		}
		return zero
	}
	half := 1 << (bits.Len(uint(len(x)-1)) - 1)
	var halves [fewElements / 2]T
	c := halves[:half]
	copy(c, x)
	for i, v := range x[half:] {
		c[i] += v
	}
	for n := half / 2; n > 0; n /= 2 {
		for i, v := range c[n : 2*n] {
			c[i] += v
		}
	}
	return zero + c[0]
}

// DecodedChains is the number of chains of FoldDecoded, and of elements that its loops take at a time.
const DecodedChains = chainBytes / 4

// FoldDecoded is Fold of codes of numbers. The folding loops of bf16 and f16 do the same.
func FoldDecoded(x []uint16, decode func(code uint16) float32, identity float32, pair func(x, y float32) float32) float32 {
	var chains [DecodedChains]float32
	for i := range chains {
		chains[i] = identity
	}
	for i, code := range x {
		c := &chains[i%len(chains)]
		*c = pair(*c, decode(code))
	}
	for n := len(chains) / 2; n > 0; n /= 2 {
		for i, v := range chains[n : 2*n] {
			chains[i] = pair(chains[i], v)
		}
	}
	return chains[0]
}

// FindFold returns the fold of this name at the level in use, or nil. It sets d to the fold of x, which is not empty; where the assembly
// leaves a rest, portable folds it and pair adds it.
func FindFold[T Number, S any](name Name, pair func(x, y T) T, portable func(x []S) T) func(d *T, x []S) {
	k := find(InUse(), name)
	switch {
	case k.loop == nil:
		return nil
	case k.step == 0:
		return func(d *T, x []S) { k.loop(len(x), unsafe.Pointer(d), unsafe.Pointer(&x[0]), nil, nil) }
	}
	return func(d *T, x []S) {
		whole := len(x) / k.step * k.step
		if whole == 0 {
			*d = portable(x)
			return
		}
		k.loop(whole, unsafe.Pointer(d), unsafe.Pointer(&x[0]), nil, nil)
		if whole < len(x) {
			*d = pair(*d, portable(x[whole:]))
		}
	}
}

// FindFoldRows returns what sets element i of y to the fold of first and row i of x, each of run elements, the rows folded as by what [FindFold] finds; or nil, if there is
// none at the level in use. Where step is not 0, rows have to be a multiple of it.
func FindFoldRows[T Number, S any](name Name) (fold func(y []T, x []S, run int, first *T), step int) {
	k := find(InUse(), name.In(FoldingRows))
	if k.loop == nil {
		return nil, 0
	}
	return func(y []T, x []S, run int, first *T) {
		if len(y) > 0 {
			k.loop(run, unsafe.Pointer(&y[0]), unsafe.Pointer(&x[:len(y)*run][0]), unsafe.Pointer(first), unsafe.Pointer(&y[len(y)-1]))
		}
	}, k.step
}
