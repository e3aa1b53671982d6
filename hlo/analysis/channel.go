package analysis

import "github.com/gohalo/halo/hlo"

// LargestChannel is the largest channel id in a module, 0 if there is none: those above it are free.
func LargestChannel(m hlo.Module) int64 {
	n := int64(0)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if v, ok := in.Attr("channel_id"); ok {
				if id, ok := v.(hlo.OptInt); ok {
					n = max(n, id.Value)
				}
			}
		}
	}
	return n
}
