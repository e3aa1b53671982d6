package stablehlo

func (c *converter) refine(main *function) {}
