package hlo

type Instruction struct{}

type DotAttrs struct{ LHSContracting []int64 }

type Group struct{ IDs []int64 }

type Common struct {
	BackendConfig string
	Groups        []Group
	Ptrs          []*Group
	Map           map[string]string
}

func (Instruction) Common() *Common { return &Common{} }

func (Instruction) Attrs() any { return &DotAttrs{} }

func AttrsOf[T any](in Instruction) T { panic("") }
