package passcases

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// handOn runs the passes as a pipeline does that is not inspected: each edits the module that the one before it has made.
func handOn(ctx context.Context, p *pass.Pipeline, m hlo.Module) (hlo.Module, error) {
	r := &pass.Runner{}
	after, err := r.Run(ctx, pass.Of("", touch).Then(p), m)
	if err == nil && len(r.Handed.Restarts) > 0 {
		return after, fmt.Errorf("%s failed on what it was lent", r.Handed.Restarts[0])
	}
	return after, err
}

// touch writes to every instruction, and changes nothing.
var touch = &pass.Pass{Name: "touch", Doc: "write to every instruction, and change nothing", Lent: true, Local: func(_ *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
	for in := range pass.Each(c) {
		id, s := in.ID(), in.Shape()
		c.Instr(id).SetShape(hlo.MakeTuple(s)).SetShape(s)
	}
	return nil
}}
