package passcases

import (
	"context"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// handOn runs the passes as a pipeline does that is not inspected: each edits the module that the one before it has made.
func handOn(ctx context.Context, p *pass.Pipeline, m hlo.Module) (hlo.Module, error) {
	r := &pass.Runner{}
	after, err := r.Run(ctx, pass.Of("", Touch).Then(p), m)
	declared := slices.ContainsFunc(p.Passes(), func(p *pass.Pass) bool { return p.Lent || p.Own != nil })
	if err == nil && len(r.Handed.Restarts) > 0 && declared {
		return after, fmt.Errorf("%s is lent, and reads what it has edited", r.Handed.Restarts[0])
	}
	return after, err
}

// Touch writes to every instruction, and changes nothing.
var Touch = &pass.Pass{Name: "touch", Doc: "write to every instruction, and change nothing", Lent: true, Local: func(_ *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
	for in := range pass.Each(c) {
		id, s := in.ID(), in.Shape()
		c.Instr(id).SetShape(hlo.MakeTuple(s)).SetShape(s)
	}
	return nil
}}
