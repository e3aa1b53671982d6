package profile_test

import (
	"context"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/profile"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels"
)

// A meter measures executions, and a profile says which instructions took how long.
func Example() {
	m, err := halo.LoadBytes("m.hlo", []byte(`HloModule m

ENTRY main {
  x = f32[64,64] parameter(0)
  ROOT e = f32[64,64] exponential(x)
}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	meter := runtime.NewMeter(runtime.MeterOptions{})
	p, err := halo.Compile(ctx, m, halo.Options{Threads: 1, Observer: halo.Observer{Meter: meter}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	x, err := arrays.Fill(arrays.Ones, 0, 0, p.Signature().Parameters[0].Shape)
	if err != nil {
		fmt.Println(err)
		return
	}
	const runs = 3
	for range runs {
		meter.Begin()
		_, err := p.Run(ctx, x)
		meter.End()
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	lowered, _ := kernels.Module(p.Runtime())
	found := profile.New(p.Runtime(), meter, profile.Config{Runs: runs, Threads: 1, Rates: analysis.OneCore, Module: lowered, Text: m.HLO()})
	for _, op := range found.Ops { // the most expensive first; found.WriteText shows all of it
		if op.Kind == profile.Kernel {
			fmt.Println(op.Name, op.Calls, op.Transcendentals)
		}
	}
	// Output: e 1 4096
}
