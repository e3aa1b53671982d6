package hostprog

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// A custom form is a list of pieces. The parser reads them one after the other
// and the printer writes them; there is no other code for any op's spelling.
type piece struct {
	kind pieceKind
	text string
}

type pieceKind uint8

const (
	pLit        pieceKind = iota // text, as it stands
	pUse                         // one operand
	pMore                        // further operands, each after a comma
	pList                        // operands between commas, perhaps none
	pTyped                       // operands between commas, each with its type
	pAttr                        // attribute text, a literal; without its type where the op fixes that
	pQuoted                      // attribute text, a string
	pSymbol                      // attribute text, @f
	pSymbols                     // attribute text, [@f, @g]
	pCount                       // attribute text, as text(N)
	pPairs                       // attributes named in text, as key = N, …; those with a default may be left out
	pDict                        // the attributes that the form does not show, if there are any
	pAttributes                  // the same, after the word attributes
	pTypes                       // types of the operands that have none fixed, after a colon
	pMaybeTypes                  // the same, nothing where there are no such operands
	pFuncType                    // types of such operands and of results: (…) -> …
	pRegion                      // a region
	pSeedFill                    // attribute text, perhaps after a comma and a chain
	pElse                        // else and a region; an empty one if absent
)

// Short names, for the tables.
var (
	use        = piece{pUse, ""}
	more       = piece{pMore, ""}
	list       = piece{pList, ""}
	dict       = piece{pDict, ""}
	types      = piece{pTypes, ""}
	maybeTypes = piece{pMaybeTypes, ""}
	funcType   = piece{pFuncType, ""}
	region     = piece{pRegion, ""}
)

func lit(s string) piece         { return piece{pLit, s} }
func value(name string) piece    { return piece{pAttr, name} }
func symbolOf(name string) piece { return piece{pSymbol, name} }

type form []piece

// shows says whether the form spells out an attribute.
func (f form) shows(name string) bool {
	for _, p := range f {
		switch p.kind {
		case pAttr, pQuoted, pSymbol, pSymbols, pCount:
			if p.text == name {
				return true
			}
		case pPairs:
			for _, k := range strings.Fields(p.text) {
				if k == name {
					return true
				}
			}
		}
	}
	return false
}

// customNode is an op in its custom form.
type customNode struct {
	Pos      lexer.Position
	Name     string
	def      *OpDef
	operands []*useNode
	attrs    []*entryNode // those that the form shows
	dict     *dictNode
	types    []*typeNode // of the operands without a fixed type
	hasTypes bool
	fn       *functionTypeNode
	regions  []*regionNode // nil for an else that is left out
	hasElse  bool
}

func (n *customNode) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Type != tokBare || t.Value == "loc" {
		return participle.NextMatch
	}
	n.Pos, n.Name = t.Pos, t.Value
	n.def = formsByName()[n.Name]
	lex.Next()
	if n.def == nil {
		return syntax(t, "custom op '"+n.Name+"' is unknown")
	}
	r := formReader{lex: lex, n: n}
	for _, p := range n.def.form {
		if err := r.read(p); err != nil {
			return err
		}
	}
	return nil
}

// formReader reads pieces into a customNode.
type formReader struct {
	lex *lexer.PeekingLexer
	n   *customNode
}

func (r *formReader) at(lit string) bool {
	t := r.lex.Peek()
	return t.Value == lit && t.Type != tokString
}

func (r *formReader) accept(lit string) bool {
	if r.at(lit) {
		r.lex.Next()
		return true
	}
	return false
}

func (r *formReader) expect(lit string) error {
	return expect(r.lex, lit)
}

func (r *formReader) expected(what string) error {
	return syntax(r.lex.Peek(), "expected "+what)
}

func (r *formReader) read(p piece) error {
	switch p.kind {
	case pLit:
		return r.expect(p.text)
	case pUse:
		return r.operand()
	case pMore:
		for r.accept(",") {
			if err := r.operand(); err != nil {
				return err
			}
		}
	case pList:
		return r.list(r.operand)
	case pTyped:
		r.n.hasTypes = true
		return r.list(r.typedOperand)
	case pAttr, pQuoted, pSymbol, pSymbols, pCount:
		return r.attribute(p)
	case pSeedFill:
		return r.seedFill(p.text)
	case pPairs:
		return r.pairs(strings.Fields(p.text))
	case pAttributes:
		if !r.accept("attributes") {
			return nil
		}
		if !r.at("{") {
			return r.expected("'{'")
		}
		fallthrough
	case pDict:
		if !r.at("{") {
			return nil
		}
		var err error
		r.n.dict, err = dictParser().ParsePart(r.lex)
		return err
	case pTypes, pMaybeTypes:
		if p.kind == pMaybeTypes && !r.at(":") {
			return nil
		}
		return r.types()
	case pFuncType:
		if err := r.expect(":"); err != nil {
			return err
		}
		var err error
		r.n.fn, err = funcTypeParser().ParsePart(r.lex)
		return err
	case pElse:
		if !r.accept("else") {
			r.n.regions = append(r.n.regions, nil)
			return nil
		}
		r.n.hasElse = true
		fallthrough
	case pRegion:
		if !r.at("{") {
			return r.expected("'{' to begin a region")
		}
		n, err := regionParser().ParsePart(r.lex)
		r.n.regions = append(r.n.regions, n)
		return err
	}
	return nil
}

func (r *formReader) operand() error {
	if r.lex.Peek().Type != tokValue {
		if len(r.n.operands) == 0 && r.n.def.firstOperand != "" {
			return r.expected(r.n.def.firstOperand)
		}
		return r.expected("SSA operand")
	}
	u := new(useNode)
	r.n.operands = append(r.n.operands, u)
	return u.Parse(r.lex)
}

func (r *formReader) typedOperand() error {
	if err := r.operand(); err != nil {
		return err
	}
	if err := r.expect(":"); err != nil {
		return err
	}
	return r.typ()
}

// list reads elements between commas, if there is a first one.
func (r *formReader) list(elem func() error) error {
	if r.lex.Peek().Type != tokValue {
		return nil
	}
	for {
		if err := elem(); err != nil {
			return err
		}
		if !r.accept(",") {
			return nil
		}
	}
}

func (r *formReader) typ() error {
	t, err := typeParser().ParsePart(r.lex)
	r.n.types = append(r.n.types, t)
	return err
}

func (r *formReader) types() error {
	if err := r.expect(":"); err != nil {
		return err
	}
	r.n.hasTypes = true
	for {
		if err := r.typ(); err != nil {
			return err
		}
		if !r.accept(",") {
			return nil
		}
	}
}

// attribute reads one that stands without its name.
func (r *formReader) attribute(p piece) error {
	e := &entryNode{Pos: r.lex.Peek().Pos, Name: p.text}
	t := r.lex.Peek()
	var err error
	switch p.kind {
	case pQuoted:
		if t.Type != tokString {
			return r.expected("string")
		}
	case pSymbol:
		if t.Type != tokSymbol {
			return r.expected("symbol name, @f")
		}
	case pSymbols:
		if !r.at("[") {
			return r.expected("list of symbol names")
		}
	case pCount:
		if err := r.expect(p.text); err != nil {
			return err
		}
		if err := r.expect("("); err != nil {
			return err
		}
	}
	if e.Value, err = attrParser().ParsePart(r.lex); err == nil {
		r.n.attrs = append(r.n.attrs, e)
	}
	if p.kind == pCount && err == nil {
		return r.expect(")")
	}
	return err
}

// pairs reads key = N, in any order; whether all are there is for the verifier.
func (r *formReader) pairs(keys []string) error {
	for {
		t := r.lex.Peek()
		known := false
		for _, k := range keys {
			known = known || t.Value == k
		}
		if !known {
			return r.expected("one of " + strings.Join(keys, ", "))
		}
		e := &entryNode{Pos: t.Pos, Name: r.lex.Next().Value}
		if err := r.expect("="); err != nil {
			return err
		}
		var err error
		if e.Value, err = attrParser().ParsePart(r.lex); err != nil {
			return err
		}
		r.n.attrs = append(r.n.attrs, e)
		if !r.accept(",") {
			return nil
		}
	}
}
