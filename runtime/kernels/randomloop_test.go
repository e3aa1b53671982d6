package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// loopWriter writes random loops over scalars, short rows and elements of arrays.
type loopWriter struct {
	rng   *rand.Rand
	pool  map[string][]string // names of values by shape
	text  strings.Builder
	count int
}

// stateShapes are the shapes of a loop's state: a counter, and one of each kind.
var stateShapes = []string{"s32[]", "s32[]", "u32[]", "s64[]", "u8[]", "pred[]", "f32[]", "f64[]", "bf16[]", "f16[]", "c64[]", "f32[3]", "s16[2]", "f32[12]", "f32[17]", "s32[20]"}

func (w *loopWriter) any(shape string) string {
	l := w.pool[shape]
	return l[w.rng.IntN(len(l))]
}

func (w *loopWriter) emit(shape, format string, args ...any) string {
	w.count++
	name := fmt.Sprintf("v%d", w.count)
	fmt.Fprintf(&w.text, "  %s = %s %s\n", name, shape, fmt.Sprintf(format, args...))
	w.pool[shape] = append(w.pool[shape], name)
	return name
}

func (w *loopWriter) pick(of ...string) string { return of[w.rng.IntN(len(of))] }

// op writes one random instruction, or the few that belong together.
func (w *loopWriter) op() {
	shape := w.pick("s32[]", "s32[]", "u32[]", "s64[]", "u8[]", "f32[]", "f32[]", "f64[]", "bf16[]", "f16[]", "c64[]", "f32[3]", "s16[2]", "f32[12]")
	t, _, _ := strings.Cut(shape, "[")
	float := strings.Contains(t, "f")
	if t == "c64" {
		w.complexOp()
		return
	}
	switch w.rng.IntN(14) {
	case 0, 1, 2:
		op := w.pick("add", "subtract", "multiply", "divide", "maximum", "minimum")
		if float && w.rng.IntN(6) == 0 {
			op = "remainder"
		}
		if !float && w.rng.IntN(2) == 0 {
			op = w.pick("remainder", "and", "or", "xor", "shift-left", "shift-right-logical", "shift-right-arithmetic")
		}
		w.emit(shape, "%s(%s, %s)", op, w.any(shape), w.any(shape))
	case 3:
		op := w.pick("negate", "abs")
		if t == "u32" || t == "u8" {
			op = "not"
		}
		w.emit(shape, "%s(%s)", op, w.any(shape))
	case 4, 5:
		if strings.HasSuffix(shape, "[]") {
			kind := ""
			if float && w.rng.IntN(3) == 0 {
				kind = ", type=TOTALORDER"
			}
			w.emit("pred[]", "compare(%s, %s), direction=%s%s", w.any(shape), w.any(shape), w.pick("EQ", "NE", "LT", "LE", "GT", "GE"), kind)
		}
	case 6:
		w.emit(shape, "select(%s, %s, %s)", w.any("pred[]"), w.any(shape), w.any(shape))
	case 7:
		if from := w.pick("s32[]", "u32[]", "s64[]", "u8[]", "pred[]", "f32[]", "f64[]", "bf16[]", "f16[]"); strings.HasSuffix(shape, "[]") && from != shape {
			w.emit(shape, "convert(%s)", w.any(from))
		}
	case 8:
		w.emit(shape, "clamp(%s, %s, %s)", w.any(shape), w.any(shape), w.any(shape))
	case 9:
		array, element := "f32[17]", "f32"
		if w.rng.IntN(2) == 0 {
			array, element = "s32[20]", "s32"
		}
		if w.rng.IntN(3) == 0 {
			array, element = w.pick("f32[3]", "f32[12]"), "f32"
		}
		v := w.emit(element+"[1]", "dynamic-slice(%s, %s), dynamic_slice_sizes={1}", w.any(array), w.any(w.pick("s32[]", "u32[]", "s64[]")))
		w.emit(element+"[]", "reshape(%s)", v)
	case 10:
		array, element := "f32[17]", "f32"
		if w.rng.IntN(2) == 0 {
			array, element = w.pick("f32[3]", "f32[12]"), "f32"
		}
		v := w.emit(element+"[1]", "reshape(%s)", w.any(element+"[]"))
		if array == "f32[17]" && w.rng.IntN(3) == 0 {
			v = w.any("f32[12]")
		}
		last := w.pool[array][len(w.pool[array])-1]
		w.emit(array, "dynamic-update-slice(%s, %s, %s)", last, v, w.any(w.pick("s32[]", "u32[]")))
	case 11:
		if shape == "f32[3]" || shape == "f32[12]" {
			w.emit(shape, "broadcast(%s), dimensions={}", w.any("f32[]"))
			return
		}
		w.call()
	case 12, 13:
		w.row()
	}
}

// row writes an instruction on a few elements that is not elementwise.
func (w *loopWriter) row() {
	const row = "f32[3]"
	// The engines add in different orders and precisions, which only shows where sums are not finite.
	small := func() string {
		low, high := w.emit(row, "constant({-9, -8, -7})"), w.emit(row, "constant({7, 8, 9})")
		return w.emit(row, "clamp(%s, %s, %s)", low, w.any(row), high)
	}
	switch w.rng.IntN(5) {
	case 0:
		one := w.emit("f32[1]", "reshape(%s)", w.any("f32[]"))
		two := w.emit("f32[2]", "slice(%s), slice={%s}", w.any(row), w.pick("[0:2]", "[1:3]", "[0:3:2]"))
		w.emit(row, "concatenate(%s, %s), dimensions={0}", one, two)
	case 1:
		w.emit(row, "pad(%s, %s), padding=%s", w.any(row), w.any("f32[]"), w.pick("1_-1", "-1_1", "-2_0_1", "0_-2_1"))
	case 2:
		zero := w.emit("f32[]", "constant(0)")
		w.emit("f32[]", "reduce(%s, %s), dimensions={0}, to_apply=%s", small(), zero, w.pick("plus", "larger"))
	case 3:
		w.emit("f32[]", "dot(%s, %s), lhs_contracting_dims={0}, rhs_contracting_dims={0}", small(), small())
	case 4:
		squares := w.emit(row, "multiply(%s, %s)", small(), small())
		zero := w.emit("f32[]", "constant(0)")
		w.emit("f32[]", "reduce(%s, %s), dimensions={0}, to_apply=plus", squares, zero)
	}
}

// complexOp writes one on complex numbers, or on their parts.
func (w *loopWriter) complexOp() {
	const shape = "c64[]"
	switch w.rng.IntN(7) {
	case 0, 1, 2:
		w.emit(shape, "%s(%s, %s)", w.pick("add", "subtract", "multiply", "divide"), w.any(shape), w.any(shape))
	case 3:
		w.emit(shape, "%s", w.pick("negate("+w.any(shape)+")", "convert("+w.any("f32[]")+")", "complex("+w.any("f32[]")+", "+w.any("f32[]")+")"))
	case 4:
		w.emit("f32[]", "%s(%s)", w.pick("real", "imag", "abs"), w.any(shape))
	case 5:
		w.emit("pred[]", "compare(%s, %s), direction=%s", w.any(shape), w.any(shape), w.pick("EQ", "NE"))
	case 6:
		w.emit(shape, "select(%s, %s, %s)", w.any("pred[]"), w.any(shape), w.any(shape))
	}
}

// call writes a call, a branch or an inner loop on an s32 and an f32, and takes both results.
func (w *loopWriter) call() {
	x, y := w.any("s32[]"), w.any("f32[]")
	const both = "(s32[], f32[])"
	w.pool[both] = nil
	var r string
	switch w.rng.IntN(3) {
	case 0:
		r = w.emit(both, "call(%s, %s), to_apply=callee", x, y)
	case 1:
		arg := w.emit(both, "tuple(%s, %s)", x, y)
		r = w.emit(both, "conditional(%s, %s, %s), true_computation=yes, false_computation=no", w.any("pred[]"), arg, arg)
	case 2:
		z := w.emit("s32[]", "constant(0)")
		arg := w.emit("(s32[], s32[], f32[])", "tuple(%s, %s, %s)", z, x, y)
		l := w.emit("(s32[], s32[], f32[])", "while(%s), condition=inner_cond, body=inner_body", arg)
		w.emit("s32[]", "get-tuple-element(%s), index=1", l)
		w.emit("f32[]", "get-tuple-element(%s), index=2", l)
		return
	}
	w.emit("s32[]", "get-tuple-element(%s), index=0", r)
	w.emit("f32[]", "get-tuple-element(%s), index=1", r)
}

const loopCallees = `
plus {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

larger {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b)
}

callee {
  a = s32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] convert(a)
  d = f32[] add(b, c)
  e = s32[] multiply(a, a)
  ROOT r = (s32[], f32[]) tuple(e, d)
}

yes {
  p = (s32[], f32[]) parameter(0)
  a = s32[] get-tuple-element(p), index=0
  b = f32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  c = s32[] add(a, one)
  ROOT r = (s32[], f32[]) tuple(c, b)
}

no {
  p = (s32[], f32[]) parameter(0)
  a = s32[] get-tuple-element(p), index=0
  b = f32[] get-tuple-element(p), index=1
  h = f32[] constant(0.5)
  c = f32[] multiply(b, h)
  ROOT r = (s32[], f32[]) tuple(a, c)
}

inner_cond {
  p = (s32[], s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}

inner_body {
  p = (s32[], s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = s32[] get-tuple-element(p), index=1
  y = f32[] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  u = s32[] xor(x, j)
  f = f32[] convert(u)
  g = f32[] maximum(y, f)
  ROOT r = (s32[], s32[], f32[]) tuple(j, u, g)
}
`

// randomLoop is a program of one loop of some rounds, as text.
func randomLoop(seed uint64, ops int) string {
	w := &loopWriter{rng: rand.New(rand.NewPCG(seed, 1)), pool: make(map[string][]string)}
	state := "(" + strings.Join(stateShapes, ", ") + ")"
	for i, s := range stateShapes {
		w.emit(s, "get-tuple-element(state), index=%d", i)
	}
	counter := w.pool["s32[]"][0]
	for range ops {
		w.op()
	}
	one := w.emit("s32[]", "constant(1)")
	next := w.emit("s32[]", "add(%s, %s)", counter, one)
	results := []string{next}
	for _, s := range stateShapes[1:] {
		v := w.any(s)
		if s == "f32[17]" { // updated in place, one after the other
			v = w.pool[s][len(w.pool[s])-1]
		}
		results = append(results, v)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "HloModule loop\n%s\nbody {\n  state = %s parameter(0)\n%s  ROOT r = %s tuple(%s)\n}\n", loopCallees, state, w.text.String(), state, strings.Join(results, ", "))
	fmt.Fprintf(&s, "\ncondition {\n  state = %s parameter(0)\n  i = s32[] get-tuple-element(state), index=0\n  n = s32[] constant(13)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n", state)
	s.WriteString("\nENTRY main {\n  zero = s32[] constant(0)\n")
	args := []string{"zero"}
	for i, shape := range stateShapes[1:] {
		fmt.Fprintf(&s, "  p%d = %s parameter(%d)\n", i, shape, i)
		args = append(args, fmt.Sprintf("p%d", i))
	}
	fmt.Fprintf(&s, "  init = %s tuple(%s)\n  ROOT w = %s while(init), condition=condition, body=body\n}\n", state, strings.Join(args, ", "), state)
	return s.String()
}
