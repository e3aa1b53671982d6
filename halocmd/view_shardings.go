package halocmd

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// decided is a program with the shardings that propagation finds, and what it says of instructions.
func decided(m hlo.Module) (after hlo.Module, why map[string][]string, err error) {
	pipeline, err := catalogue.Parse("sdy-import,sharding-propagation")
	if err != nil {
		return m, nil, err
	}
	why = make(map[string][]string)
	r := &pass.Runner{Instruments: []pass.Instrument{{Remark: func(r pass.Remark) { why[r.In.Name()] = append(why[r.In.Name()], r.Text) }}}}
	if after, err = r.Run(context.Background(), pipeline, m); err != nil {
		return m, nil, err
	}
	if len(why) == 0 {
		return m, nil, fmt.Errorf("--shardings: nothing in module %s says how values are split, or it is the program of one device already", m.Name())
	}
	return after, why, nil
}
