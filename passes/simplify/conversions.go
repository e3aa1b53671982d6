package simplify

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
)

// rewriting makes a pass of rules.
func rewriting(name, doc string, list ...*pass.RewriteRule) *pass.Pass {
	r := &pass.Rewriter{Rules: list}
	return &pass.Pass{Name: name, Doc: doc, Rewrites: r.Document, Local: r.Local, Lent: true}
}

// conversionRules undo floating conversions.
var conversionRules = sync.OnceValue(func() []*pass.RewriteRule {
	return rewrites(rules.Must("simplify-fp-conversions", `
X1 [nan] r:(convert y:(convert x)) => x if float(x), float(y) -- there and back, without the rounding
X2 [nan] r:(convert y:(convert x)) => (convert x) if float(x), float(y), float(r) -- one conversion does both
`))
})

// NewFPConversions drops what floating conversions round away between two others.
func NewFPConversions(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("fp"); err != nil {
		return nil, err
	}
	r := &pass.Rewriter{Rules: conversionRules()}
	for _, opt := range o {
		level, err := pass.ParseFP(opt.Value)
		if err != nil {
			return nil, fmt.Errorf("fp=%w", err)
		}
		r.Allow = &level
	}
	return &pass.Pass{Name: "simplify-fp-conversions", Doc: conversionsDoc, Options: o, Rewrites: r.Document, Local: r.Local, Lent: true, Params: []pass.Param{
		{Name: "fp", Doc: "what may change in floating-point results, whatever the policy of the run: strict, xla or fast"},
	}}, nil
}

const conversionsDoc = `drop floating conversions to a type between

A value that is converted there and back keeps the bits that the type between would have rounded away: results become more precise, so that the
rules fire under fp=xla only.`

func rewrites(list []*rules.Rule) (all []*pass.RewriteRule) {
	for _, r := range list {
		all = append(all, r.RewriteRule)
	}
	return all
}

// ConvertMover moves conversions to where they convert less, or later.
var ConvertMover = rewriting("convert-mover", `move narrowing conversions up and widening ones down

Data movement is done in the narrower of two types: convert(pad(x)) to a narrower type becomes pad(convert(x)), and pad(convert(x)) from one
becomes convert(pad(x)). No bit of any result changes.`,
	&pass.RewriteRule{ID: "up", Doc: "narrow(move(x)) → move(narrow(x))", Root: []hlo.Opcode{hlo.OpConvert}, Operands: [][]hlo.Opcode{movers}, Rewrite: moveUp},
	&pass.RewriteRule{ID: "down", Doc: "move(widen(x)) → widen(move(x))", Root: movers, Rewrite: moveDown})

// movers are the ops that conversions pass through: each result element is an element of an operand.
//
//halo:allow opswitch what XLA's pass moves conversions through is a list of its own
var movers = []hlo.Opcode{hlo.OpBroadcast, hlo.OpConcatenate, hlo.OpPad, hlo.OpReshape, hlo.OpReverse, hlo.OpSlice, hlo.OpTranspose}

func convertTo(t hlo.PrimitiveType, x hlo.Instruction) pass.Expr {
	return pass.New(hlo.OpConvert, x.Shape().WithType(t), nil, pass.Use(x))
}

func moveUp(in hlo.Instruction) (pass.Expr, bool) {
	m := in.OperandInstr(0)
	t := in.Shape().Type()
	if m.UserCount() != 1 || m.IsRoot() || t.Bits() >= m.Shape().Type().Bits() {
		return pass.Expr{}, false
	}
	var args []pass.Expr
	for x := range m.Operands() {
		args = append(args, convertTo(t, x))
	}
	return pass.New(m.Opcode(), in.Shape(), m.Attrs(), args...), true
}

// moveDown needs every operand to be a conversion from one narrower type, or a constant that the type can hold.
func moveDown(in hlo.Instruction) (pass.Expr, bool) {
	var narrow hlo.PrimitiveType
	for x := range in.Operands() {
		if x.Opcode() != hlo.OpConvert {
			continue
		}
		t := x.OperandInstr(0).Shape().Type()
		if narrow != hlo.InvalidType && narrow != t || x.UserCount() != 1 {
			return pass.Expr{}, false
		}
		narrow = t
	}
	wide := in.Shape().Type()
	if narrow == hlo.InvalidType || narrow.Bits() >= wide.Bits() {
		return pass.Expr{}, false
	}
	var args []pass.Expr
	for x := range in.Operands() {
		switch {
		case x.Opcode() == hlo.OpConvert:
			args = append(args, pass.Use(x.OperandInstr(0)))
		case wide.IsComplex() && !narrow.IsComplex():
			return pass.Expr{}, false // a conversion of complex numbers to real ones is no op
		case x.Opcode() == hlo.OpConstant && survives(x.Literal(), narrow):
			args = append(args, convertTo(narrow, x))
		default:
			return pass.Expr{}, false
		}
	}
	moved := pass.New(in.Opcode(), in.Shape().WithType(narrow), in.Attrs(), args...)
	return pass.New(hlo.OpConvert, in.Shape(), nil, moved), true
}

// survives reports whether a constant is the same after a conversion there and back.
func survives(l *hlo.Literal, t hlo.PrimitiveType) bool {
	if l == nil || l.IsElided() || !l.Shape().IsArray() || l.Shape().NumElements() > 1024 {
		return false
	}
	b := hlo.NewBuilder("survives")
	m, err := b.Build(b.Convert(b.Convert(b.Constant(l), t), l.Shape().Type()))
	if err != nil {
		return false
	}
	back, ok := rules.Compute(m)
	return ok && slices.Equal(back.Bytes(), l.Bytes())
}
