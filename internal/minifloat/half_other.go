//go:build !amd64

package minifloat

func widenF16Vector([]float32, []uint16) int  { return 0 }
func narrowF16Vector([]uint16, []float32) int { return 0 }

func widenBF16Vector([]float32, []uint16) int  { return 0 }
func narrowBF16Vector([]uint16, []float32) int { return 0 }
