package spmd

import (
	"fmt"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/parsing"
)

// Shardy's attributes as text: what JAX leaves in frontend attributes.

var sdyLexer = sync.OnceValue(func() *lexer.StatefulDefinition {
	return lexer.MustSimple([]lexer.SimpleRule{
		{Name: "String", Pattern: `"[^"]*"`},
		{Name: "Ident", Pattern: `[#@]?[A-Za-z_][A-Za-z_0-9.\-]*`},
		{Name: "Int", Pattern: `-?\d+`},
		{Name: "Arrow", Pattern: `->`},
		{Name: "Punct", Pattern: `[][{}<>(),=:?]`},
		{Name: "space", Pattern: `\s+`},
	})
})

func sdyParser[T any]() func(text string) (T, error) {
	parser := sync.OnceValue(func() *parsing.Parser[T] {
		return parsing.MustBuild[T](participle.Lexer(sdyLexer()), participle.Unquote("String"), participle.UseLookahead(3))
	})
	return func(text string) (T, error) {
		v, err := parser().ParseString("", text)
		if err != nil {
			return v, fmt.Errorf("sharding %q of Shardy: %w", text, err)
		}
		return v, nil
	}
}

var (
	parseMeshes    = sdyParser[*sdyMeshes]()
	parseSharding  = sdyParser[*sdySharding]()
	parsePerValue  = sdyParser[*sdyPerValue]()
	parseManual    = sdyParser[*sdyManual]()
	parseShardRule = sdyParser[*sdyRule]()
)

type sdyMeshes struct {
	Meshes []sdyNamedMesh `parser:"'{' (@@ (',' @@)*)? '}'"`
}

type sdyNamedMesh struct {
	Name string  `parser:"(@Ident|@String) '='"`
	Mesh sdyMesh `parser:"'#sdy.mesh' @@"`
}

type sdyMesh struct {
	Axes    []sdyAxis `parser:"'<' '[' (@@ (',' @@)*)? ']'"`
	Devices []int64   `parser:"(',' 'device_ids' '=' '[' (@Int (',' @Int)*)? ']')? '>'"`
}

type sdyAxis struct {
	Name string `parser:"@String '='"`
	Size int64  `parser:"@Int"`
}

type sdySharding struct {
	Body sdyBody `parser:"'#sdy.sharding' '<' @@ '>'"`
}

type sdyPerValue struct {
	Bodies []sdyBody `parser:"'#sdy.sharding_per_value' '<' '[' ('<' @@ '>' (',' '<' @@ '>')*)? ']' '>'"`
}

type sdyBody struct {
	Mesh       string   `parser:"( @Ident"`
	Inline     *sdyMesh `parser:"| 'mesh' @@ )"`
	Dims       []sdyDim `parser:"',' '[' (@@ (',' @@)*)? ']'"`
	Replicated []sdyRef `parser:"(',' 'replicated' '=' '{' (@@ (',' @@)*)? '}')?"`
	Unreduced  []sdyRef `parser:"(',' 'unreduced' '=' '{' (@@ (',' @@)*)? '}')?"`
}

type sdyDim struct {
	Items    []sdyItem `parser:"'{' (@@ (',' @@)*)? '}'"`
	Priority string    `parser:"@Ident?"`
}

type sdyItem struct {
	Open bool    `parser:"  @'?'"`
	Ref  *sdyRef `parser:"| @@"`
}

type sdyRef struct {
	Axis string `parser:"@String"`
	Pre  int64  `parser:"(':' '(' @Int ')'"`
	Size int64  `parser:" @Int)?"`
}

type sdyManual struct {
	Axes []string `parser:"'#sdy' '<' 'manual_axes' '{' (@String (',' @String)*)? '}' '>'"`
}

// sdyRule is the rule of a custom-call: the factors of each dimension of operands and results.
type sdyRule struct {
	Operands []sdyTensor `parser:"'#sdy.op_sharding_rule' '<' '(' (@@ (',' @@)*)? ')'"`
	Results  []sdyTensor `parser:"Arrow '(' (@@ (',' @@)*)? ')'"`
	Sizes    []sdyFactor `parser:"'{' (@@ (',' @@)*)? '}'"`
	Sets     []sdySet    `parser:"@@* (',' 'custom')? '>'"`
}

type sdyTensor struct {
	Dims []string `parser:"'[' (@Ident (',' @Ident)*)? ']'"`
}

type sdyFactor struct {
	Name string `parser:"@Ident '='"`
	Size int64  `parser:"@Int"`
}

type sdySet struct {
	Kind  string   `parser:"@Ident '=' '{'"`
	Names []string `parser:"(@Ident (',' @Ident)*)? '}'"`
}

// mesh is the mesh in the form of package hlo.
func (m *sdyMesh) mesh() *hlo.Mesh {
	if len(m.Axes) == 0 && len(m.Devices) == 1 {
		return &hlo.Mesh{Maximal: true, MaximalDevice: m.Devices[0]}
	}
	out := &hlo.Mesh{DeviceIDs: m.Devices}
	for _, a := range m.Axes {
		out.Axes = append(out.Axes, hlo.MeshAxis{Name: a.Name, Size: a.Size})
	}
	return out
}

// refs are references to axes of a mesh.
func refs(m *hlo.Mesh, list []sdyRef) (out []hlo.AxisRef, err error) {
	for _, r := range list {
		a, err := ref(m, r)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func ref(m *hlo.Mesh, r sdyRef) (hlo.AxisRef, error) {
	for i, a := range m.Axes {
		if a.Name == r.Axis {
			return hlo.AxisRef{Axis: i, PreSize: r.Pre, Size: r.Size, IsSub: r.Size > 0}, nil
		}
	}
	return hlo.AxisRef{}, fmt.Errorf("the mesh has no axis %q", r.Axis)
}
