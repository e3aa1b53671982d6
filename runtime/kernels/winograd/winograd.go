// Package winograd is Winograd's F(2×2, 3×3): two by two elements of the result of a convolution with filters of three by three by 16 products instead of 36.
//
//	Y = Aᵀ[(GgGᵀ) ⊙ (BᵀdB)]A
//
// d is a patch of four by four elements of the input, g a filter, ⊙ multiplies element by element. Input features are added up before Aᵀ and A are applied, so there are
// sixteen products of matrices, and only those multiply. What is an element here is a line: as many of them as lie together in memory, of neighbouring features.
//
// The gradient of filters is made of the same products, as Σ y·g·d, the sum of which all three are derivatives, is Σ (AyAᵀ)·(GgGᵀ)·(BᵀdB): it is Gᵀ[Σ (AhAᵀ) ⊙ (BᵀdB)]G over all
// patches d and the gradients h of their results.
//
// The rounding errors are those of a direct convolution with numbers as large as the largest of the patch, whichever of them an element of the result depends on: see
// [Allows].
//
// Source: A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015.
package winograd

// Combinations is how many lines become of a patch or a filter.
const Combinations = 16

// Step is what lines have a multiple of elements of.
const Step = 8

// Lines says how far apart lines of a grid are, in elements: rows of them, those of a row, and the first ones of one grid and the next.
type Lines struct{ Row, Column, Next int }

// reach is how many elements there are from the beginning of the first line to the end of the last one.
func (l Lines) reach(count, n int, of size) int {
	return (of.rows-1)*l.Row + (of.columns-1)*l.Column + (count-1)*l.Next + n
}

// size is how many lines a grid has from top to bottom and from left to right.
type size struct{ rows, columns int }

var (
	patch        = size{4, 4}
	filter       = size{3, 3}
	combinations = size{4, 4}
	result       = size{2, 2}
)

// Patches writes the combinations BᵀdB of count patches d, of lines of n elements.
func Patches(count, n int, dst []float32, to Lines, src []float32, from Lines) {
	transform(patches, count, n, dst, to, combinations, src, from, patch)
}

// Filters writes the combinations GgGᵀ of count filters g, of lines of n elements.
func Filters(count, n int, dst []float32, to Lines, src []float32, from Lines) {
	transform(filters, count, n, dst, to, combinations, src, from, filter)
}

// Sums writes two by two lines AᵀmA of the result for each of count sums m of products of combinations, of lines of n elements.
func Sums(count, n int, dst []float32, to Lines, src []float32, from Lines) {
	transform(sums, count, n, dst, to, result, src, from, combinations)
}

// Gradients writes the combinations AhAᵀ of count gradients h of two by two elements of a result, of lines of n elements.
func Gradients(count, n int, dst []float32, to Lines, src []float32, from Lines) {
	transform(gradients, count, n, dst, to, combinations, src, from, result)
}

// Weights writes three by three lines GᵀmG of the gradient of a filter for each of count sums m, over all patches, of the products of combinations of patches and gradients, of lines of n elements.
func Weights(count, n int, dst []float32, to Lines, src []float32, from Lines) {
	transform(weights, count, n, dst, to, filter, src, from, combinations)
}

// transform checks what assembly reads and writes before it does.
func transform(loops transforms, count, n int, dst []float32, to Lines, toSize size, src []float32, from Lines, fromSize size) {
	if count < 1 || n < Step || n%Step != 0 || min(to.Row, to.Column, to.Next, from.Row, from.Column, from.Next) < 0 ||
		len(dst) < to.reach(count, n, toSize) || len(src) < from.reach(count, n, fromSize) {
		panic("winograd: lines are too short")
	}
	loop, lanes := loops.of(n)
	const bytes = 4
	loop(count, n/lanes, &src[0], from.Row*bytes, from.Column*bytes, (from.Next-n)*bytes, &dst[0], to.Row*bytes, to.Column*bytes, (to.Next-n)*bytes)
}

// Largest writes the bits of the largest magnitude of each of the lines of n elements that src has. They are in the order of the magnitudes, infinity and what is no number
// behind.
func Largest(n int, dst []uint32, src []float32) {
	if n < Step || n%Step != 0 || len(src) != len(dst)*n {
		panic("winograd: lines are too short")
	}
	if len(dst) > 0 {
		loop, lanes := largest.of(n)
		loop(len(dst), n/lanes, &src[0], &dst[0])
	}
}
