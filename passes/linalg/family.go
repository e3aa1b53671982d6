// Package linalg holds the passes that write factorizations and solvers of matrices as loops of products, and one that is about calls to LAPACK.
//
// Each of the former works on blocks of columns: within a block a loop makes one column a round, of products of a matrix with a vector; what follows the block is brought up to
// date by products of matrices, which is where the work is. Numbers of less than 32 bits are computed with in f32.
package linalg

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{UnreadVectors},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"cholesky-expander":         NewCholesky,
		"eigh-expander":             NewEigh,
		"qr-expander":               NewQR,
		"triangular-solve-expander": NewTriangularSolve,
	},
}

// defaultBlock is how many columns XLA takes for a block.
const defaultBlock = 128

var blockSize = pass.Param{Name: "block-size", Doc: "columns that a loop makes one by one before products of matrices apply them to the others; 128"}

var lapackToo = pass.Param{Name: "lapack", Doc: "expand the calls to LAPACK that JAX makes for processors as well; false"}

// blockOf reads the option block-size, and refuses options that are neither it nor one of the others.
func blockOf(o pass.Options, others ...string) (int64, error) {
	if err := o.Known(append(others, blockSize.Name)...); err != nil {
		return 0, err
	}
	block, err := o.Int(blockSize.Name, defaultBlock)
	if err == nil && block < 1 {
		err = fmt.Errorf("%s=%d: want 1 or more", blockSize.Name, block)
	}
	return int64(block), err
}

// expander is the pass that replaces each instruction that wants accepts by what write emits before it. Instructions that wants names but does not accept
// are remarked on, with the reason.
type expander struct {
	wants func(in hlo.Instruction) (wanted bool, refusal string)
	write func(at emit.At, in hlo.Instruction) hlo.InstrID
}

func (x expander) pass(name, doc string, o pass.Options, params ...pass.Param) *pass.Pass {
	return &pass.Pass{Name: name, Doc: doc, Options: o, Params: params, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			all := slices.Collect(c.OperandsFirst())
			slices.Reverse(all)
			for _, in := range all {
				wanted, refusal := x.wants(in)
				switch {
				case !wanted:
					continue
				case refusal != "":
					ctx.Missed(in, "not expanded: %s", refusal)
					continue
				case !ctx.SpendUnder(pass.FastMath, "expand", pass.Rounding):
					continue
				}
				ce := e.Computation(c.ID())
				if err := emit.Replace(ce, in.ID(), x.write(emit.Before(ce, ce.At(in.ID())), in)); err != nil {
					return m, err
				}
				ctx.Count("expanded", 1)
			}
		}
		return e.Freeze(), nil
	}}
}

// matrices says why the operands of an instruction are not batches of matrices of one type of real or complex numbers, "" if they are.
func matrices(in hlo.Instruction) string {
	for o := range in.Operands() {
		s := o.Shape()
		switch {
		case !s.IsArray() || s.Rank() < 1:
			return fmt.Sprintf("operand %s is of shape %v", o.Name(), s)
		case !s.IsStatic():
			return fmt.Sprintf("the sizes of operand %s, %v, are known at run time", o.Name(), s)
		case !s.Type().IsFloat() && !s.Type().IsComplex():
			return fmt.Sprintf("operand %s is of %v", o.Name(), s.Type())
		case s.Type() != in.OperandInstr(0).Shape().Type():
			return "operands are of different types"
		}
	}
	if s := in.OperandInstr(0).Shape(); s.Rank() < 2 {
		return fmt.Sprintf("the operand is of shape %v", s)
	}
	return ""
}
