package stablehlo

// canonicalize does to a function what XLA's converter does to it before it makes HLO.
func (c *converter) canonicalize(f *function) {}

func (c *converter) refine(main *function) {}
