package mlir

import "github.com/gohalo/halo/hlo"

// Operations of shapes: those of the dialect shape, and those of tensor and arith that sizes are computed with.

// shapeForms are their forms, in the words of [form].
var shapeForms = map[string]string{
	"{} shape:ints :result":        "shape: const_shape",
	"value:i64 {} :size":           "shape: const_size",
	"passing:bool {} :witness":     "shape: const_witness",
	"$* {} :arrow":                 "shape: shape_of value_of broadcast num_elements get_extent concat to_extent_tensor value_as_shape dim rank add mul div max min any",
	"$* {} :arrows":                "shape: split_at",
	"$* {} :ofShape":               "shape: from_extent_tensor from_extents",
	"$* {} :ofIndex":               "shape: size_to_index",
	"$ {} :size":                   "shape: index_to_size",
	"$* {} :ofWitness":             "shape: cstr_broadcastable cstr_eq",
	"$ ',' msg:string {} :witness": "shape: cstr_require",
	"$* {} :witness":               "shape: assuming_all",
	"$* {} :ofTruth":               "shape: is_broadcastable shape_eq",
	"$* {} :return":                "shape: assuming_yield",
	"$ [',' $] {} :first":          "tensor: dim rank",
	"$ '[' $* ']' {} :extract":     "tensor: extract",
	"$* {} :elements":              "tensor: from_elements",
	"$ {} :to":                     "tensor: cast arith: index_cast index_castui extsi extui trunci builtin: unrealized_conversion_cast",
	"$* ['overflow' overflow:raw] {} :type": `arith: addi subi muli divsi divui ceildivsi ceildivui floordivsi remsi remui maxsi maxui minsi minui
		andi ori xori`,
	"$* {} :type": "stablehlo: compute_reshape_shape cstr_reshapable",
	"predicate:word ',' $ ',' $ {} :compared": "arith: cmpi",
	"$* {} :chosen": "arith: select",
}

func init() {
	shape := func(name string) func(r *reader) *Type {
		return func(r *reader) *Type { return r.types.Opaque("!shape." + name) }
	}
	index := func(r *reader) *Type { return r.types.Index() }
	truth := func(r *reader) *Type { return r.types.Scalar(hlo.PRED) }
	only := func(t func(r *reader) *Type) func(*reader, *Op) {
		return func(r *reader, op *Op) { r.result(op, t(r)) }
	}
	after := func(t func(r *reader) *Type) func(*reader, *Op) {
		return func(r *reader, op *Op) {
			r.operandTypes(op)
			r.result(op, t(r))
		}
	}
	shapeTypes = map[string]func(*reader, *Op){
		"size": only(shape("size")), "witness": only(shape("witness")),
		"ofShape": after(shape("shape")), "ofWitness": after(shape("witness")), "ofIndex": after(index), "ofTruth": after(truth),
		"result": func(r *reader, op *Op) {
			r.expect(":")
			r.result(op, r.typ())
		},
		"arrows":   (*reader).arrowsTypes,
		"first":    (*reader).firstType,
		"extract":  (*reader).extractTypes,
		"elements": (*reader).elementsType,
		"to":       (*reader).castTypes,
		"compared": (*reader).comparedTypes,
		"chosen":   (*reader).chosenTypes,
	}
}

// shapeTypes are the ways in which types stand at the end of these operations.
var shapeTypes map[string]func(*reader, *Op)

// arrowsTypes: the types of the operands, an arrow, those of the results without parentheses.
func (r *reader) arrowsTypes(op *Op) {
	r.operandTypes(op)
	r.expect("->")
	list := []*Type{r.typ()}
	for r.accept(",") {
		list = append(list, r.typ())
	}
	r.results(op, list)
}

// firstType: the type of the first operand; the others and the result are sizes.
func (r *reader) firstType(op *Op) {
	r.expect(":")
	r.sameType(op, 0, op.Operands[0], r.typ())
	for i, v := range op.Operands[1:] {
		r.sameType(op, i+1, v, r.types.Index())
	}
	r.result(op, r.types.Index())
}

// extractTypes: the type of the first operand, of which the result is an element.
func (r *reader) extractTypes(op *Op) {
	at := r.pos
	r.firstType(op)
	t := op.Operands[0].Type
	if t.Kind != Tensor {
		r.failAt(at, "'%s' of a value of type %v", op.Name, t)
	}
	r.result(op, r.types.elem(t))
}

// elementsType: the type of the result, whose elements are the operands.
func (r *reader) elementsType(op *Op) {
	r.expect(":")
	r.space()
	at := r.pos
	t := r.typ()
	if t.Kind != Tensor || !t.IsStatic() || t.NumElements() != int64(len(op.Operands)) {
		r.failAt(at, "'%s' of %d elements has the type %v", op.Name, len(op.Operands), t)
	}
	for i, v := range op.Operands {
		r.sameType(op, i, v, r.types.elem(t))
	}
	r.result(op, t)
}

// castTypes: `A to B`.
func (r *reader) castTypes(op *Op) {
	r.operandTypes(op)
	r.expect("to")
	r.result(op, r.typ())
}

// comparedTypes: the type of the operands; the result is the truth of each element.
func (r *reader) comparedTypes(op *Op) {
	r.expect(":")
	t := r.typ()
	for i, v := range op.Operands {
		r.sameType(op, i, v, t)
	}
	if t.Kind == Tensor {
		r.result(op, r.types.WithElem(t, hlo.PRED))
	} else {
		r.result(op, r.types.Scalar(hlo.PRED))
	}
}

// chosenTypes: the type of the last two operands and the result, after that of the first unless it is one truth.
func (r *reader) chosenTypes(op *Op) {
	r.expect(":")
	first, t := r.types.Scalar(hlo.PRED), r.typ()
	if r.accept(",") {
		first, t = t, r.typ()
	}
	r.firstAndRest(op, first, t)
}

// assumingForm: `%witness -> (types) { ... shape.assuming_yield ... }`.
func (r *reader) assumingForm(op *Op) {
	op.Operands = []*Value{r.use()}
	var out []*Type
	if r.accept("->") {
		out = r.resultTypes()
	}
	op.Regions = []Region{r.region(nil)}
	r.results(op, out)
}
