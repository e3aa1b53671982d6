package halo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/printer"
)

// evaluated is a program in the reference evaluator.
type evaluated struct {
	m       hlo.Module
	options Options
}

func (e *evaluated) close() {}

// hash hashes the program.
func (e *evaluated) hash() (string, error) {
	h := sha256.New()
	err := printer.Fprint(h, e.m, printer.Config{LargeConstants: true})
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

func (e *evaluated) execute(ctx context.Context, s *Signature, x *Execution) ([][]*hlo.Literal, error) {
	o := eval.Options{MaxBytes: e.options.MaxBytes, MaxSteps: e.options.MaxSteps, Host: x.Host, Trace: e.options.Observer.Values, CustomCalls: e.options.evalCalls(e.m)}
	args := make([][]*hlo.Literal, len(x.Args))
	from, to := x.held()
	for d := from; d < to; d++ {
		args[d] = parameters(e.m, x.Args[d])
	}
	var values []*hlo.Literal
	transport, over, err := x.transport(ctx, Eval, e.m, e.hash)
	if err != nil {
		return nil, err
	}
	defer over()
	o.Transport = transport
	if len(args) == 1 {
		values = make([]*hlo.Literal, 1)
		values[0], err = eval.Module(ctx, e.m, args[0], o)
	} else {
		values, err = eval.Devices(ctx, e.m, args, x.Replicas, x.Partitions, o)
	}
	if err != nil {
		return nil, orElided(err, e.m)
	}
	all := make([][]*hlo.Literal, len(values))
	for d := from; d < to; d++ {
		all[d] = values[d].Leaves()
		if x.Results != nil {
			if err := store(all[d], x.Results[d]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// store copies results into the caller's memory. A result that is an argument, in whose memory another one goes, moves out of its way first.
func store(results, given []*hlo.Literal) error {
	over := make(map[*byte]int, len(given)) // which result goes where
	for i, to := range given {
		if to != nil && len(to.Bytes()) > 0 {
			over[&to.Bytes()[0]] = i
		}
	}
	for i, r := range results {
		if len(r.Bytes()) == 0 {
			continue
		}
		if at, ok := over[&r.Bytes()[0]]; ok && at != i {
			var err error
			if results[i], err = hlo.NewLiteral(r.Shape(), slices.Clone(r.Bytes())); err != nil {
				return err
			}
		}
	}
	for i, to := range given {
		if to == nil || len(to.Bytes()) != len(results[i].Bytes()) { // of another size than its bounds
			continue
		}
		copy(to.Bytes(), results[i].Bytes())
		var err error
		if results[i], err = hlo.NewLiteral(results[i].Shape(), to.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// parameters puts leaves together to one literal for each parameter.
func parameters(m hlo.Module, leaves []*hlo.Literal) (all []*hlo.Literal) {
	entry := m.Entry()
	for i := range entry.NumParameters() {
		var l *hlo.Literal
		l, leaves = hlo.LiteralOfLeaves(entry.Parameter(i).Shape(), leaves)
		all = append(all, l)
	}
	return all
}
