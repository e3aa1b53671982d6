package stablehlo

import (
	"fmt"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/internal/parsing"
)

// The grammars of Shardy's meshes and shardings. There are few of them in a program and most are alike, so they are read once by text.

// meshSyntax is `<["x"=2, "y"=4], device_ids=[1, 0]>`.
type meshSyntax struct {
	Axes    []*axisSyntax `parser:"'<' '[' ( @@ ( ',' @@ )* )? ']'"`
	Devices *intsSyntax   `parser:"( ',' 'device_ids' '=' @@ )? '>'"`
}

type axisSyntax struct {
	Name string `parser:"@String '='"`
	Size int64  `parser:"@Int"`
}

type intsSyntax struct {
	Values []int64 `parser:"'[' ( @Int ( ',' @Int )* )? ']'"`
}

// shardingSyntax is `<@mesh, [{"x", ?}p1, {}], replicated={"y"}, unreduced={"z"}>`; the mesh may stand in place.
type shardingSyntax struct {
	Symbol string       `parser:"'<' ( '@' ( @Ident | @String )"`
	Mesh   *meshSyntax  `parser:"| 'mesh' @@ ) ',' '['"`
	Dims   []*dimSyntax `parser:"( @@ ( ',' @@ )* )? ']'"`
	More   []*setSyntax `parser:"( ',' @@ )* '>'"`
}

// dimSyntax is the axes of one dimension.
type dimSyntax struct {
	Items    []*dimItem `parser:"'{' ( @@ ( ',' @@ )* )? '}'"`
	Priority string     `parser:"@Ident?"`
}

type dimItem struct {
	Open bool       `parser:"  @'?'"`
	Axis *refSyntax `parser:"| @@"`
}

// refSyntax is an axis, or a part of one: `"x":(2)4` is the part of size 4 after 2.
type refSyntax struct {
	Name string `parser:"@String"`
	Pre  *int64 `parser:"( ':' '(' @Int ')'"`
	Size int64  `parser:"@Int )?"`
}

type setSyntax struct {
	Kind string       `parser:"@('replicated' | 'unreduced') '='"`
	Axes []*refSyntax `parser:"'{' ( @@ ( ',' @@ )* )? '}'"`
}

var sdyLexer = sync.OnceValue(func() *lexer.StatefulDefinition {
	return lexer.MustSimple([]lexer.SimpleRule{
		{Name: "String", Pattern: `"[^"]*"`},
		{Name: "Ident", Pattern: `[A-Za-z_][\w$.]*`},
		{Name: "Int", Pattern: `-?\d+`},
		{Name: "Punct", Pattern: `[<>\[\]{}(),=:@?]`},
		{Name: "space", Pattern: `\s+`},
	})
})

var (
	meshParser = sync.OnceValue(func() *parsing.Parser[*meshSyntax] {
		return parsing.MustBuild[*meshSyntax](participle.Lexer(sdyLexer()), participle.Unquote("String"))
	})
	shardingParser = sync.OnceValue(func() *parsing.Parser[*shardingSyntax] {
		return parsing.MustBuild[*shardingSyntax](participle.Lexer(sdyLexer()), participle.Unquote("String"), participle.UseLookahead(2))
	})
)

// trimSDY is the text of a mesh or sharding from its opening bracket.
func trimSDY(text string) string {
	if i := strings.IndexByte(text, '<'); i >= 0 && strings.HasPrefix(text, "#sdy.") {
		return text[i:]
	}
	return text
}

func readMesh(text string) (*meshSyntax, error) {
	m, err := meshParser().ParseString("", trimSDY(text))
	if err != nil {
		return nil, fmt.Errorf("mesh %s: %w", text, err)
	}
	return m, nil
}

func readSharding(text string) (*shardingSyntax, error) {
	s, err := shardingParser().ParseString("", trimSDY(text))
	if err != nil {
		return nil, fmt.Errorf("sharding %s: %w", text, err)
	}
	return s, nil
}
