package hostprog

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar, as participle reads it from the tags. Three nodes parse
// themselves: custom forms, which are tables (form.go), modules, whose text
// may belong to another compiler, and bodies of types, which are kept as text.

type fileNode struct {
	Items []*itemNode `parser:"@@*"`
}

type itemNode struct {
	Alias *aliasNode `parser:"  @@"`
	Op    *opNode    `parser:"| @@"`
}

type aliasNode struct {
	Pos  lexer.Position
	Name string    `parser:"@( AttrID | TypeID ) '='"`
	Attr *attrNode `parser:"@@"`
}

type opNode struct {
	Pos     lexer.Position
	Results []*resultNode `parser:"( @@ ( ',' @@ )* '=' )?"`
	Generic *genericNode  `parser:"( @@"`
	Module  *moduleNode   `parser:"| @@"`
	Func    *funcNode     `parser:"| @@"`
	Custom  *customNode   `parser:"| @@ )"`
	Loc     *locNode      `parser:"( 'loc' '(' @@ ')' )?"`
}

type resultNode struct {
	Pos   lexer.Position
	Name  string  `parser:"@Value"`
	Count *string `parser:"( ':' @Int )?"`
}

type genericNode struct {
	Pos      lexer.Position
	Name     string            `parser:"@String '('"`
	Operands []*useNode        `parser:"( @@ ( ',' @@ )* )? ')'"`
	Props    *dictNode         `parser:"( '<' @@ '>' )?"`
	Regions  []*regionNode     `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
	Attrs    *dictNode         `parser:"@@?"`
	Type     *functionTypeNode `parser:"':' @@"`
}

type useNode struct {
	Pos    lexer.Position
	Name   string  `parser:"@Value"`
	Number *string `parser:"( '#' @Int )?"`
}

type funcNode struct {
	Pos        lexer.Position
	Keyword    string       `parser:"@( 'func.func' | 'func' )"`
	Visibility string       `parser:"@( 'private' | 'public' | 'nested' )?"`
	Name       string       `parser:"@Symbol '('"`
	Params     []*paramNode `parser:"( @@ ( ',' @@ )* )? ')'"`
	Results    *resultsNode `parser:"( '->' @@ )?"`
	Attrs      *dictNode    `parser:"( 'attributes' @@ )?"`
	Body       *regionNode  `parser:"@@?"`
}

type paramNode struct {
	Pos   lexer.Position
	Name  string    `parser:"( @Value ':' )?"`
	Type  *typeNode `parser:"@@"`
	Attrs *dictNode `parser:"@@?"`
	Loc   *locNode  `parser:"( 'loc' '(' @@ ')' )?"`
}

type resultsNode struct {
	List   bool        `parser:"( @'('"`
	Types  []*typeNode `parser:"  ( @@ ( ',' @@ )* )? ')'"`
	Single *plainType  `parser:"| @@ )"`
}

type regionNode struct {
	Pos    lexer.Position
	Ops    []*opNode    `parser:"'{' @@*"`
	Blocks []*blockNode `parser:"@@*"`
	Close  string       `parser:"@'}'"`
}

type blockNode struct {
	Pos    lexer.Position
	Label  string       `parser:"@Block"`
	Params []*paramNode `parser:"( '(' ( @@ ( ',' @@ )* )? ')' )? ':'"`
	Ops    []*opNode    `parser:"@@*"`
}

type functionTypeNode struct {
	Pos     lexer.Position
	Params  *resultsNode `parser:"@@ '->'"`
	Results *resultsNode `parser:"@@"`
}

// typeNode is any type. One in parentheses is a function type.
type typeNode struct {
	Pos   lexer.Position
	Func  *funcTypeNode `parser:"  @@"`
	Plain *plainType    `parser:"| @@"`
}

type funcTypeNode struct {
	Params  []*typeNode  `parser:"'(' ( @@ ( ',' @@ )* )? ')' '->'"`
	Results *resultsNode `parser:"@@"`
}

type plainType struct {
	Pos  lexer.Position
	Name string    `parser:"@( BareID | TypeID )"`
	Body *bodyNode `parser:"@@?"`
}

type dictNode struct {
	Pos     lexer.Position
	Entries []*entryNode `parser:"'{' ( @@ ( ',' @@ )* )? '}'"`
}

type entryNode struct {
	Pos   lexer.Position
	Name  string    `parser:"@( BareID | String )"`
	Value *attrNode `parser:"( '=' @@ )?"`
}

type attrNode struct {
	Pos     lexer.Position
	True    bool         `parser:"  @'true'"`
	False   bool         `parser:"| @'false'"`
	Unit    bool         `parser:"| @'unit'"`
	Dense   *denseNode   `parser:"| 'dense' '<' @@"`
	Loc     *locNode     `parser:"| 'loc' '(' @@ ')'"`
	Number  *numberNode  `parser:"| @@"`
	String  string       `parser:"| @String"`
	Array   *arrayNode   `parser:"| @@"`
	Dict    *dictNode    `parser:"| @@"`
	Symbol  *symbolNode  `parser:"| @@"`
	Dialect *dialectAttr `parser:"| @@"`
	Type    *typeNode    `parser:"| @@"`
}

type numberNode struct {
	Pos      lexer.Position
	Negative bool      `parser:"@'-'?"`
	Text     string    `parser:"@( Int | Float )"`
	Type     *typeNode `parser:"( ':' @@ )?"`
}

type arrayNode struct {
	Open  bool        `parser:"@'['"`
	Elems []*attrNode `parser:"( @@ ( ',' @@ )* )? ']'"`
}

type symbolNode struct {
	Root   string   `parser:"@Symbol"`
	Nested []string `parser:"( '::' @Symbol )*"`
}

type dialectAttr struct {
	Pos  lexer.Position
	Name string    `parser:"@AttrID"`
	Body *bodyNode `parser:"@@?"`
}

type denseNode struct {
	Value *denseLiteral `parser:"@@? '>'"`
	Type  *typeNode     `parser:"':' @@"`
}

type denseLiteral struct {
	Pos     lexer.Position
	True    bool            `parser:"  @'true'"`
	False   bool            `parser:"| @'false'"`
	Hex     string          `parser:"| @String"`
	List    *denseList      `parser:"| @@"`
	Complex *complexLiteral `parser:"| @@"`
	Minus   bool            `parser:"| @'-'?"`
	Text    string          `parser:"  @( Int | Float )"`
}

type denseList struct {
	Open  bool            `parser:"@'['"`
	Elems []*denseLiteral `parser:"( @@ ( ',' @@ )* )? ']'"`
}

type complexLiteral struct {
	Real *denseLiteral `parser:"'(' @@ ','"`
	Imag *denseLiteral `parser:"@@ ')'"`
}

type locNode struct {
	Pos     lexer.Position
	Unknown bool          `parser:"  @'unknown'"`
	Call    *callSiteNode `parser:"| 'callsite' '(' @@ ')'"`
	Fused   *fusedNode    `parser:"| @@"`
	Alias   string        `parser:"| @AttrID"`
	Name    string        `parser:"| @String"`
	Line    string        `parser:"  ( ':' @Int"`
	Column  string        `parser:"    ':' @Int"`
	Child   *locNode      `parser:"  | '(' @@ ')' )?"`
}

type callSiteNode struct {
	Callee *locNode `parser:"@@ 'at'"`
	Caller *locNode `parser:"@@"`
}

type fusedNode struct {
	Keyword string     `parser:"@'fused'"`
	Meta    *bodyNode  `parser:"@@?"`
	Parts   []*locNode `parser:"'[' ( @@ ( ',' @@ )* )? ']'"`
}

// bodyNode is the text between angle brackets, brackets included. White space
// counts as one blank, comments as none.
type bodyNode struct{ Text string }

func (n *bodyNode) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Value != "<" {
		return participle.NextMatch
	}
	var b strings.Builder
	depth, end := 0, -1
	for {
		t := lex.Next()
		if t.EOF() {
			return &Diagnostic{Pos: position(t.Pos), Msg: "expected '>'"}
		}
		if end >= 0 && t.Pos.Offset > end {
			b.WriteByte(' ')
		}
		end = t.Pos.Offset + len(t.Value)
		b.WriteString(t.Value)
		if t.Type != tokPunct {
			continue
		}
		switch t.Value {
		case "<", "(", "[", "{":
			depth++
		case ">", ")", "]", "}":
			if depth--; depth == 0 {
				n.Text = b.String()
				return nil
			}
		}
	}
}

// moduleNode is a module. The text of one that is marked tfrt.compiled is kept.
type moduleNode struct {
	Pos   lexer.Position
	Name  string
	Attrs *dictNode
	Body  *regionNode
	// Offsets of the text, for one that is kept.
	Compiled   bool
	Start, End int
}

func (n *moduleNode) Parse(lex *lexer.PeekingLexer) error {
	first := lex.Peek()
	if first.Type != tokBare || first.Value != "module" {
		return participle.NextMatch
	}
	n.Pos = lex.Next().Pos
	n.Start = n.Pos.Offset
	if lex.Peek().Type == tokSymbol {
		n.Name = lex.Next().Value
	}
	if lex.Peek().Value == "attributes" {
		lex.Next()
		var err error
		if n.Attrs, err = dictParser.ParseFromLexer(lex, participle.AllowTrailing(true)); err != nil {
			return err
		}
	}
	if n.Attrs == nil || !n.Attrs.has("tfrt.compiled") {
		var err error
		n.Body, err = regionParser.ParseFromLexer(lex, participle.AllowTrailing(true))
		return err
	}
	n.Compiled = true
	if t := lex.Peek(); t.Value != "{" {
		return &Diagnostic{Pos: position(t.Pos), Msg: "expected '{' to begin a region"}
	}
	for depth := 0; ; {
		t := lex.Next()
		if t.EOF() {
			return &Diagnostic{Pos: position(t.Pos), Msg: "expected '}' to end a region"}
		}
		if t.Type != tokPunct {
			continue
		}
		switch t.Value {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				n.End = t.Pos.Offset + 1
				return nil
			}
		}
	}
}

func (n *dictNode) has(name string) bool {
	for _, e := range n.Entries {
		if e.Name == name {
			return true
		}
	}
	return false
}

// Parsers of the whole and of the parts that forms are made of.
var (
	fileParser     = build[fileNode]()
	regionParser   = build[regionNode]()
	dictParser     = build[dictNode]()
	attrParser     = build[attrNode]()
	typeParser     = build[typeNode]()
	funcTypeParser = build[functionTypeNode]()
	useParser      = build[useNode]()
	symbolParser   = build[symbolNode]()
	numberParser   = build[numberNode]()
)

// The grammar is LL(1): what has taken a token has decided. So the first error
// is the error.
func build[T any]() *participle.Parser[T] {
	return participle.MustBuild[T](participle.Lexer(lexerDefinition{}), participle.UseLookahead(0))
}

// Grammar returns the EBNF of host programs without custom forms.
func Grammar() string { return fileParser.String() }
