//go:build !amd64

package winograd

// Has reports whether there are loops for this processor.
func Has() bool { return false }

type loops[F any] struct{}

type transforms = loops[func(count, vectors int, src *float32, srcRow, srcColumn, srcNext int, dst *float32, dstRow, dstColumn, dstNext int)]

var (
	patches, filters, sums, gradients, weights transforms
	largest                                    loops[func(count, vectors int, src *float32, dst *uint32)]
)

func (loops[F]) of(int) (F, int) { panic("winograd: no vectors") }
