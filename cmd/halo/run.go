package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/arrays"
)

// runCmd runs programs: HLO in text, proto or BEF form, and host programs.
type runCmd struct {
	Files []string `arg:"" name:"file" help:"Programs to run: .hlo, .pb, .bef, .mlir, directories, - for standard input."`
	Level optLevel `embed:""`

	Input   []string `help:"Array for one parameter leaf: N=file.npy." placeholder:"N=FILE" sep:"none"`
	Inputs  string   `help:"Arrays for the parameters, keys 0, 1, ..." placeholder:"FILE.npz"`
	Fill    string   `help:"Make the inputs that are not given: zeros, ones, random, uniform or model." placeholder:"KIND"`
	Seed    uint64   `help:"Seed of the fill." placeholder:"S"`
	Elided  string   `help:"What to do with constants that the text leaves out: error, fill with XLA's filler, or auto: fill if the inputs are filled too." default:"auto" enum:"auto,error,fill"`
	Output  string   `short:"o" help:"Write the results here, keys 0, 1, ..." placeholder:"FILE.npz"`
	Print   bool     `help:"Print the results as HLO literals."`
	Engine  string   `help:"bef: lower and run; eval: the reference evaluator." default:"bef" enum:"bef,eval"`
	Compare string   `help:"Compare the results with these." placeholder:"REF.npz"`
	Rtol    *float64 `help:"Relative tolerance of --compare. Default, by element type: 1e-5 for f32, 1e-10 for f64, a unit in the last place for narrower floats, 0 for integers."`
	Atol    *float64 `help:"Absolute tolerance of --compare. Default as of --rtol."`
	Bench   int      `help:"Time this many runs after one to warm up." placeholder:"N"`
	Threads int      `help:"Compute workers. Default: one for each processor." placeholder:"N"`
	Profile string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	JSON    bool     `name:"json" help:"One JSON object for each file."`

	Host hostRunFlags `embed:""`
}

func (c *runCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return usageError{err}
	}
	if err := c.Host.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if in.kind == hostText || in.kind == befFile && isHostProgram(in.data) {
			return c.Host.run(ctx, e, in)
		}
		return c.program(ctx, e, in, r)
	})
}

// check finds what is wrong with the flags before any file is read.
func (c *runCmd) check() error {
	if c.Fill != "" {
		if _, err := arrays.Fill(arrays.FillKind(c.Fill), 0, 0, hlo.MakeShape(hlo.F32)); err != nil {
			return fmt.Errorf("--fill: %w", err)
		}
	}
	for _, in := range c.Input {
		n, file, ok := strings.Cut(in, "=")
		if _, err := strconv.ParseUint(n, 10, 32); !ok || err != nil || file == "" {
			return fmt.Errorf("--input %s: want N=FILE.npy, where N is the number of a parameter leaf", in)
		}
	}
	switch {
	case c.Output != "" && len(c.Files) > 1:
		return fmt.Errorf("--output names one file, but there are %d programs", len(c.Files))
	case c.Bench < 0:
		return errors.New("--bench: want a positive number of runs")
	case c.Bench > 0 && (c.Print || c.Output != "" || c.Compare != ""):
		return errors.New("--bench only times: it goes with none of --print, --output and --compare")
	case c.Threads < 0:
		return errors.New("--threads: want a positive number of threads, or 0 for one on each processor")
	case c.Rtol != nil && *c.Rtol < 0, c.Atol != nil && *c.Atol < 0:
		return errors.New("--rtol, --atol: want a tolerance of at least 0")
	}
	return nil
}

// program runs an HLO program.
func (c *runCmd) program(ctx context.Context, e *env, in *input, r *record) error {
	eng, err := c.prepare(ctx, e, in)
	if err != nil {
		return err
	}
	defer eng.close()
	e.progress.at("making the inputs")
	args, err := c.arguments(eng.params())
	if err != nil {
		return fmt.Errorf("%s: error: %w", in.name, err)
	}
	e.progress.at("running")
	if c.Bench > 0 {
		return c.bench(ctx, e, eng, args, r)
	}
	results, err := eng.run(ctx, args)
	if err != nil {
		return err
	}
	return c.deliver(e, in.name, results, r)
}

// deliver prints, writes and compares the results.
func (c *runCmd) deliver(e *env, name string, results []*hlo.Literal, r *record) error {
	if c.Print {
		var records []any
		for _, l := range results {
			shape, value := string(l.Shape().AppendText(nil, false)), string(l.AppendText(nil))
			records = append(records, map[string]string{"shape": shape, "value": value})
			if !c.JSON {
				if _, err := fmt.Fprintf(e.stdout, "%s %s\n", shape, value); err != nil {
					return err
				}
			}
		}
		r.add("results", records)
	}
	if c.Output != "" {
		if err := create(c.Output, func(w io.Writer) error { return arrays.WriteNPZ(w, results) }); err != nil {
			return err
		}
	}
	if c.Compare != "" {
		return c.compare(e, name, results, r)
	}
	return nil
}

// compare reports how far the results are from the reference; a difference beyond the tolerance is a failure.
func (c *runCmd) compare(e *env, name string, results []*hlo.Literal, r *record) error {
	ref, err := arrays.ReadNPZ(c.Compare)
	if err != nil {
		return fmt.Errorf("%s: error: %w", c.Compare, unwrapPath(err))
	}
	if len(ref) > len(results) {
		return fmt.Errorf("%s: error: it has %d arrays, but %s has %d results", c.Compare, len(ref), name, len(results))
	}
	var records []any
	bad := 0
	for i, got := range results {
		a := ref[strconv.Itoa(i)]
		if a == nil {
			return fmt.Errorf("%s: error: there is no array %d for result %d, %v", c.Compare, i, i, got.Shape().WithoutLayout())
		}
		want, err := arrays.Literal(a, got.Shape())
		if err != nil {
			return fmt.Errorf("%s: error: array %d: %w", c.Compare, i, err)
		}
		rtol, atol := c.tolerance(got.Shape().Type())
		d := arrays.Compare(got, want, rtol, atol)
		if d.Bad > 0 {
			bad++
		}
		shape := got.Shape().WithoutLayout().String()
		records = append(records, map[string]any{"result": i, "shape": shape, "elements": d.Elements, "bad": d.Bad, "max_abs": d.MaxAbs, "max_rel": d.MaxRel})
		if !c.JSON {
			fmt.Fprintf(e.stderr, "%s: result %d, %s: %v\n", name, i, shape, d)
		}
	}
	r.add("compare", records)
	if bad > 0 {
		return fmt.Errorf("%s: error: %d of %d results differ from %s", name, bad, len(results), c.Compare)
	}
	return nil
}

// tolerance is what the flags say, or else what suits the type.
func (c *runCmd) tolerance(t hlo.PrimitiveType) (rtol, atol float64) {
	rtol = arrays.Tolerance(t)
	atol = rtol
	if c.Rtol != nil {
		rtol = *c.Rtol
	}
	if c.Atol != nil {
		atol = *c.Atol
	}
	return rtol, atol
}
