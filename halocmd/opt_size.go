package halocmd

import (
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// size is how large a module is, and what one execution of it takes by the cost model. Of two modules it is the difference.
type size struct {
	Instructions  int   `json:"instructions"`
	Computations  int   `json:"computations"`
	ConstantBytes int64 `json:"constant_bytes"`
	Flops         int64 `json:"flops"`
	Bytes         int64 `json:"bytes"` // read and written
}

func sizeOf(m hlo.Module) (s size) {
	s.Instructions, s.Computations = m.NumInstructions(), m.NumComputations()
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpConstant && in.Shape().IsArray() {
				s.ConstantBytes += in.Shape().ByteSize()
			}
		}
	}
	k := analysis.FindCosts(m).OfComputation(m.Entry().ID())
	s.Flops, s.Bytes = k.Flops+k.Transcendentals, k.Bytes
	return s
}

func (s size) minus(o size) size {
	return size{s.Instructions - o.Instructions, s.Computations - o.Computations, s.ConstantBytes - o.ConstantBytes, s.Flops - o.Flops, s.Bytes - o.Bytes}
}

// text is a difference in words, what stayed the same left out.
func (s size) text() string {
	var b strings.Builder
	for _, part := range []struct {
		name string
		n    int64
	}{
		{"instructions", int64(s.Instructions)}, {"computations", int64(s.Computations)}, {"constant bytes", s.ConstantBytes}, {"flops", s.Flops}, {"bytes", s.Bytes},
	} {
		if part.n != 0 {
			fmt.Fprintf(&b, ", %+d %s", part.n, part.name)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return " (" + b.String()[2:] + ")"
}

// sizes remembers the size of the version seen last, which the next pass begins with. The zero value measures; off makes it answer nothing.
type sizes struct {
	off   bool
	last  [2]hlo.Module
	known [2]size
}

func (k *sizes) of(m hlo.Module) size {
	if k.off {
		return size{}
	}
	for i, seen := range k.last {
		if seen == m {
			return k.known[i]
		}
	}
	k.last[1], k.known[1] = k.last[0], k.known[0]
	k.last[0], k.known[0] = m, sizeOf(m)
	return k.known[0]
}

// bytesText is a number of bytes for people; "" for none.
func bytesText(n int64) string {
	switch {
	case n == 0:
		return ""
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f kB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}
