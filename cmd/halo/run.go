package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/arrays"
	"github.com/gohalo/halo/internal/npz"
)

// runCmd runs programs: HLO in text, proto or BEF form, and host programs.
type runCmd struct {
	Files []string `arg:"" name:"file" help:"Programs to run: .hlo, .pb, .bef, .mlir, directories, - for standard input."`
	Level optLevel `embed:""`

	Input   []string `help:"Array for one parameter leaf: N=file.npy." placeholder:"N=FILE" sep:"none"`
	Inputs  string   `help:"Arrays for the parameters, keys 0, 1, ..." placeholder:"FILE.npz" type:"path"`
	Fill    string   `help:"Make the inputs that are not given: zeros, ones, random, uniform or model."`
	Seed    uint64   `help:"Seed of the fill."`
	Elided  string   `help:"What to do with constants that the text leaves out: error, fill with XLA's filler, or auto: fill if the inputs are filled too." default:"auto" enum:"auto,error,fill"`
	Output  string   `help:"Write the results here, keys 0, 1, ..." placeholder:"FILE.npz" type:"path"`
	Print   bool     `help:"Print the results as HLO literals."`
	Engine  string   `help:"bef: lower and run; eval: the reference evaluator." default:"bef" enum:"bef,eval"`
	Compare string   `help:"Compare the results with these." placeholder:"REF.npz" type:"path"`
	Rtol    float64  `help:"Relative tolerance of --compare." default:"1e-5"`
	Atol    float64  `help:"Absolute tolerance of --compare." default:"1e-8"`
	Bench   int      `help:"Time this many runs after one to warm up." placeholder:"N"`
	Threads int      `help:"Compute workers; 0 is one for each processor."`
	Profile string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	JSON    bool     `name:"json" help:"One JSON object for each file."`

	Host hostRunFlags `embed:""`
}

func (c *runCmd) Run(e *env) error {
	if c.Fill != "" {
		if _, err := arrays.Fill(arrays.FillKind(c.Fill), 0, 0, hlo.MakeShape(hlo.F32)); err != nil {
			return usageError{err}
		}
	}
	if err := c.Host.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if in.kind == hostText || in.kind == befFile && isHostProgram(in.data) {
			return c.Host.run(ctx, e, in)
		}
		return c.program(ctx, e, in, r)
	})
}

// program runs an HLO program.
func (c *runCmd) program(ctx context.Context, e *env, in *input, r *record) error {
	eng, err := c.prepare(ctx, e, in)
	if err != nil {
		return err
	}
	defer eng.close()
	args, err := c.arguments(eng.params())
	if err != nil {
		return fmt.Errorf("%s: error: %w", in.name, err)
	}
	if c.Bench > 0 {
		return c.bench(ctx, e, eng, args, r)
	}
	results, err := eng.run(ctx, args)
	if err != nil {
		return err
	}
	if c.Print {
		for _, l := range results {
			fmt.Fprintf(e.stdout, "%s %s\n", l.Shape().AppendText(nil, false), l.AppendText(nil))
		}
	}
	if c.Output != "" {
		if err := arrays.WriteNPZ(c.Output, results); err != nil {
			return fmt.Errorf("%s: error: %w", c.Output, err)
		}
	}
	if c.Compare != "" {
		return c.compare(e, in.name, results)
	}
	return nil
}

// arguments makes one literal for each parameter leaf, from the files that are given and the fill.
func (c *runCmd) arguments(params []hlo.Shape) ([]*hlo.Literal, error) {
	given := map[string]*npz.Array{}
	if c.Inputs != "" {
		all, err := arrays.ReadNPZ(c.Inputs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Inputs, err)
		}
		given = all
	}
	for _, in := range c.Input {
		n, file, ok := strings.Cut(in, "=")
		if !ok {
			return nil, usageError{fmt.Errorf("--input %s: want N=file.npy", in)}
		}
		a, err := arrays.ReadNPY(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		given[n] = a
	}
	args := make([]*hlo.Literal, len(params))
	for i, s := range params {
		key := fmt.Sprint(i)
		var err error
		switch a := given[key]; {
		case a != nil:
			args[i], err = arrays.Literal(a, s)
		case s.IsToken():
			args[i], err = hlo.NewLiteral(s, nil)
		case c.Fill != "":
			args[i], err = arrays.Fill(arrays.FillKind(c.Fill), c.Seed, i, s)
		default:
			err = errors.New("no value: give --inputs, --input or --fill")
		}
		if err != nil {
			return nil, fmt.Errorf("parameter leaf %d, %v: %w", i, s.WithoutLayout(), err)
		}
		delete(given, key)
	}
	for key := range given {
		return nil, fmt.Errorf("there is no parameter leaf %s: the program has %d", key, len(params))
	}
	return args, nil
}

// compare reports how far the results are from the reference; a difference beyond the tolerance is a failure.
func (c *runCmd) compare(e *env, name string, results []*hlo.Literal) error {
	ref, err := arrays.ReadNPZ(c.Compare)
	if err != nil {
		return fmt.Errorf("%s: error: %w", c.Compare, err)
	}
	bad := false
	for i, got := range results {
		a := ref[fmt.Sprint(i)]
		if a == nil {
			return fmt.Errorf("%s: error: result leaf %d is missing", c.Compare, i)
		}
		want, err := arrays.Literal(a, got.Shape())
		if err != nil {
			return fmt.Errorf("%s: error: result leaf %d: %w", c.Compare, i, err)
		}
		d := arrays.Compare(got, want, c.Rtol, c.Atol)
		fmt.Fprintf(e.stderr, "%s: result %d, %v: %v\n", name, i, got.Shape().WithoutLayout(), d)
		bad = bad || d.Bad > 0
	}
	if bad {
		return fmt.Errorf("%s: error: the results differ from %s", name, c.Compare)
	}
	return nil
}
