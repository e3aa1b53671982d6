package hlo

type Instruction struct{}

type DotAttrs struct{ LHSContracting []int64 }

func (Instruction) Attrs() any { return &DotAttrs{} }

func AttrsOf[T any](in Instruction) T { panic("") }
