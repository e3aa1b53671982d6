package halo

import (
	"errors"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/lower"
)

// ElidedError says that a program cannot run because its file leaves out the values of constants, as the texts of XLA's dumps do with large ones.
type ElidedError struct {
	File     string
	Position hlo.Position // of the first such constant, unknown in a proto
	Constant string
	Shape    hlo.Shape
	Others   int // how many more there are
}

// Error names the constant, and the ways to a program that has the values.
func (e *ElidedError) Error() string {
	more := ""
	switch {
	case e.Others == 1:
		more = ", and so is that of another constant"
	case e.Others > 1:
		more = fmt.Sprintf(", and so are those of %d other constants", e.Others)
	}
	if !e.Position.IsKnown() {
		return fmt.Sprintf(`%s: error: there is no value of constant %s, %v%s
  take another form of the program: a dump of XLA with XLA_FLAGS=--xla_dump_hlo_as_proto, or TensorFlow's stages hlo_serialized and optimized_hlo_serialized
  or make it an argument of the program, and give its value: halo run --inputs FILE.npz`, e.File, e.Constant, e.Shape.WithoutLayout(), more)
	}
	return fmt.Sprintf(`%s:%d:%d: error: the value of constant %s, %v, is elided ({...})%s
  dump the program as a proto, which has all values: XLA_FLAGS=--xla_dump_hlo_as_proto, or TensorFlow's stage hlo_serialized
  or print them into the text: XLA_FLAGS=--xla_dump_large_constants, or JAX's as_hlo_text(print_large_constants=True)
  or make them arguments of the program, and give their values: halo run --inputs FILE.npz`, e.File, e.Position.Line, e.Position.Col, e.Constant, e.Shape.WithoutLayout(), more)
}

// orElided is err, or an *ElidedError if it is about a constant that has no value.
func orElided(err error, m hlo.Module) error {
	lowering, evaluation := new(lower.Error), new(eval.Error)
	aboutConstant := errors.As(err, &lowering) && lowering.Opcode == hlo.OpConstant || errors.As(err, &evaluation) && evaluation.Opcode == hlo.OpConstant
	if !aboutConstant {
		return err
	}
	var found *ElidedError
	for c := range m.Computations() {
		for in := range c.Instructions() {
			l := in.Literal()
			switch {
			case l == nil || !l.IsElided():
			case found == nil:
				found = &ElidedError{m.Config().FileName, in.Position(), in.Name(), in.Shape(), 0}
			default:
				found.Others++
			}
		}
	}
	if found == nil {
		return err
	}
	return found
}
