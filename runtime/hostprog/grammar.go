package hostprog

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/internal/parsing"
)

// The grammar, as participle reads it from the tags. Some nodes parse
// themselves (grammar_op.go): ops, of which custom forms are tables (form.go),
// modules, whose text may belong to another compiler, and bodies of types,
// which are kept as text.

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

// opNode is
//
//	op     = [ result { "," result } "=" ] ( generic | module | func | custom ) [ "loc" "(" location ")" ]
//	result = value-id [ ":" integer ]
//
// read by hand: texts are little else, and reflection would take most of the time.
type opNode struct {
	Results []*resultNode
	Generic *genericNode
	Module  *moduleNode
	Func    *funcNode
	Custom  *customNode
	Loc     *locNode
}

type resultNode struct {
	Pos   lexer.Position
	Name  string
	Count string
}

type genericNode struct {
	Pos      lexer.Position
	Name     string            `parser:"@String '('"`
	Operands []*useNode        `parser:"( @@ ( ',' @@ )* )? ')'"`
	Blocks   []string          `parser:"( '[' @Block ( ',' @Block )* ']' )?"`
	Props    *dictNode         `parser:"( '<' @@ '>' )?"`
	Regions  []*regionNode     `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
	Attrs    *dictNode         `parser:"@@?"`
	Type     *functionTypeNode `parser:"':' @@"`
}

// useNode is a value-id [ "#" integer ].
type useNode struct {
	Pos    lexer.Position
	Name   string
	Number string
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
	Pos     lexer.Position
	Name    string       `parser:"@( BareID | TypeID )"`
	Body    *bodyNode    `parser:"( @@"`
	Extents *extentsNode `parser:"| @@ )?"`
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

// Parsers of the whole and of the parts that forms are made of. They are built when the first text is read: that takes longer than all
// else that a program which imports the package does before it begins.
var (
	fileParser = sync.OnceValue(func() *participle.Parser[fileNode] {
		return participle.MustBuild[fileNode](participle.Lexer(lexerDefinition{}), participle.UseLookahead(0))
	})
	regionParser   = sync.OnceValue(part[*regionNode])
	dictParser     = sync.OnceValue(part[*dictNode])
	attrParser     = sync.OnceValue(part[*attrNode])
	typeParser     = sync.OnceValue(part[*typeNode])
	funcTypeParser = sync.OnceValue(part[*functionTypeNode])
	genericParser  = sync.OnceValue(part[*genericNode])
	funcParser     = sync.OnceValue(part[*funcNode])
	locParser      = sync.OnceValue(part[*locNode])
)

// The grammar is LL(1): what has taken a token has decided. So the first error
// is the error.
func part[P any]() *parsing.Parser[P] {
	return parsing.MustBuild[P](participle.Lexer(lexerDefinition{}), participle.UseLookahead(0))
}
