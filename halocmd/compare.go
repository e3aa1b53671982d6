package halocmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/origin"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/diverge"
	"github.com/gohalo/halo/verifier"
)

// compareCmd runs a program in two ways and says where they part.
type compareCmd struct {
	Files   []string `arg:"" name:"file" help:"A program, to run in two ways, or two programs, to compare with each other: .hlo, .pb, .mlir, - for standard input."`
	Each    bool     `help:"Run each of the programs in two ways, and not two of them against each other."`
	A       string   `help:"Passes of the first run: a pipeline such as -O2 or cpu, or pipeline text. Default: none." placeholder:"PASSES"`
	B       string   `help:"Passes of the second run. The engine bef adds the passes that it needs." placeholder:"PASSES"`
	Engines string   `help:"Engines of the two runs, eval or bef: A,B. Default: eval,bef, or eval,eval when passes are given." placeholder:"A,B"`

	Input   []string    `help:"Array for one parameter leaf: N=file.npy." placeholder:"N=FILE" sep:"none"`
	Inputs  string      `help:"Arrays for the parameters, keys 0, 1, ..." placeholder:"FILE.npz"`
	Fill    string      `help:"Values of missing inputs: zeros, ones, random, uniform or model. Default: random." placeholder:"KIND"`
	Seed    uint64      `help:"Seed of the fill." placeholder:"S"`
	Threads threadCount `help:"Compute workers of bef. Default: one for each processor." placeholder:"N"`
	Profile string      `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	Save    string      `help:"Write the instruction that departs as a program, and its operands beside it (.npz)." placeholder:"FILE.hlo"`
	Verbose bool        `short:"v" help:"Show how much each result differs."`
	JSON    bool        `name:"json" help:"One JSON object for each file."`

	shapeFlags `embed:""`

	SPMD       bool `name:"spmd" help:"Run a program for many devices on one, and partitioned on all: name the first instruction that departs. Passes of --a and --b do not go with it."`
	Partitions int  `help:"With --spmd: how many devices. Default: what the program says." placeholder:"P"`

	tolerances `embed:""`

	saved *saved // beside the program whose arguments are made
}

// Help is what --help says beyond the flags.
func (compareCmd) Help() string {
	return `Runs one program in two ways, or two programs on the same inputs, and names the first instruction whose value differs. The instructions of two programs are
paired as in halo diff; types may differ. An instruction that differs is computed again from the operands of the first program, so that halo names
the instruction that causes a difference, and not one that passes it on.

  halo compare --b=-O2 model.hlo
  halo compare before.hlo after.hlo
  halo compare --spmd sharded.hlo
  halo compare --save=op.hlo model_f32.hlo model_bf16.hlo && halo run op.hlo --inputs op.npz --print

The default tolerances are 1e-10 for f64 and 1e-5 for f32, since the order of sums differs, a unit in the last place for
narrower floats, and none for integers. A NaN equals a NaN, an infinity only itself, and -0 equals 0, unless --zero-signs, --nan-bits or --ignore-infinities
is given. The exit status is 1 if results differ.`
}

// spmd compares one device with many.
func (c *compareCmd) spmd(ctx context.Context, e *env, in *input, r *record) error {
	m, args, err := c.load(e, in)
	if err != nil {
		return err
	}
	imports, err := catalogue.Parse("sdy-import") // results are added, of which Shardy's strings know nothing
	if err != nil {
		return err
	}
	partition, err := catalogue.Parse("spmd")
	if err != nil {
		return err
	}
	if m, err = (&pass.Runner{}).Run(ctx, imports, m); err != nil {
		return fmt.Errorf("%s: error: %w", in.name, err)
	}
	e.progress.at("comparing")
	split := halo.PartitionOptions{Devices: c.Partitions, Pipeline: partition, Verifier: verifierConfig(verifier.Config{})}
	alone := split
	if alone.Pipeline, err = catalogue.Parse("spmd-partitioning"); err != nil {
		return err
	}
	found, err := diverge.FindPartitioned(ctx, m, args, split, alone, diverge.Config{Tolerance: c.tolerances.of, Exactness: c.exactness(), Options: options(halo.Options{Threads: int(c.Threads)})})
	if err != nil {
		return fmt.Errorf("%s: error: %w", in.name, err)
	}
	return c.report(e, in.name, r, [2]way{{name: "a", file: "one device", engine: halo.BEF}, {name: "b", file: "many devices", engine: halo.BEF}}, found, m)
}

// load reads the one program that is run in two ways, and makes its arguments.
func (c *compareCmd) load(e *env, in *input) (m hlo.Module, args []*hlo.Literal, err error) {
	e.progress.at("reading")
	if m, err = e.loadModule(in, moduleOptions{profile: c.Profile, fill: true}); err != nil {
		return m, nil, err
	}
	c.saved = in.saved
	if args, err = c.arguments(m); err != nil {
		return m, nil, fmt.Errorf("%s: error: %w", in.name, err)
	}
	return m, args, nil
}

// way is one of the two ways to run a program.
type way struct {
	name   string
	passes string
	engine halo.Engine
	file   string // of one of two programs
}

func (w way) String() string {
	if w.file != "" {
		one := w
		one.file = ""
		return fmt.Sprintf("%s (%v)", w.file, one)
	}
	if w.passes == "" {
		return string(w.engine)
	}
	return fmt.Sprintf("%s after %s", w.engine, w.passes)
}

func (c *compareCmd) Run(e *env) error {
	ways, err := c.ways()
	if err == nil {
		err = c.tolerances.check()
	}
	if err != nil {
		return usageError{err}
	}
	ctx, stop := interruptible(e)
	defer stop()
	if c.SPMD && (c.A != "" || c.B != "" || c.Save != "") || !c.SPMD && c.Partitions != 0 || c.Partitions < 0 {
		return usageError{errors.New("--spmd goes with neither --a, --b nor --save; --partitions, a positive number, goes with --spmd")}
	}
	if len(c.Files) == 2 && !c.Each && !c.SPMD && !isFolder(c.Files[0]) && !isFolder(c.Files[1]) {
		return c.two(ctx, e, ways)
	}
	if c.Save != "" && len(c.Files) > 1 {
		return usageError{errors.New("--save goes with one program, or with two that are compared with each other")}
	}
	if c.SPMD {
		return e.each(c.Files, c.JSON, func(in *input, r *record) error { return c.spmd(ctx, e, in, r) })
	}
	return e.each(c.Files, c.JSON, func(in *input, r *record) error { return c.program(ctx, e, in, r, ways) })
}

// ways reads the flags.
func (c *compareCmd) ways() (ways [2]way, err error) {
	engines := []string{"eval", "bef"}
	switch {
	case c.Engines != "":
		engines = strings.Split(c.Engines, ",")
	case c.A != "" || c.B != "" || len(c.Files) == 2 && !c.Each:
		engines[1] = "eval"
	}
	if len(engines) != 2 {
		return ways, errors.New("--engines: want two, as in eval,bef")
	}
	for i, text := range []string{c.A, c.B} {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "--passes="), "-") // as opt spells it
		ways[i] = way{name: "ab"[i : i+1], passes: text, engine: halo.Engine(engines[i])}
		switch engines[i] {
		case "eval":
		case "bef":
			needed := "cpu"
			if text == "O0" {
				needed = "O0"
			}
			ways[i].passes = strings.TrimPrefix(text+","+needed, ",")
		default:
			return ways, fmt.Errorf("--engines: there is no engine %q: want eval or bef", engines[i])
		}
		if _, err := catalogue.Parse(ways[i].passes); ways[i].passes != "" && err != nil {
			return ways, fmt.Errorf("--%s: %w", ways[i].name, err)
		}
	}
	return ways, nil
}

func (c *compareCmd) program(ctx context.Context, e *env, in *input, r *record, ways [2]way) error {
	m, args, err := c.load(e, in)
	if err != nil {
		return err
	}
	var sides [2]diverge.Side
	for i, w := range ways {
		if sides[i], err = w.side(ctx, m); err != nil {
			return fmt.Errorf("%s: error: %s: %w", in.name, w.name, err)
		}
	}
	return c.find(ctx, e, in.name, r, ways, sides, args, false)
}

// find compares two sides and reports.
func (c *compareCmd) find(ctx context.Context, e *env, name string, r *record, ways [2]way, sides [2]diverge.Side, args []*hlo.Literal, pair bool) error {
	e.progress.at("comparing")
	cfg := diverge.Config{Tolerance: c.tolerances.of, Exactness: c.exactness(), Pair: pair, Options: options(halo.Options{Threads: int(c.Threads)})}
	if e.progress != nil {
		cfg.Seen = func(side string, in hlo.Instruction, n int) {
			e.progress.at(fmt.Sprintf("comparing, value %d of %s: %s", n, side, in.Name()))
		}
	}
	found, err := diverge.Find(ctx, sides[0], sides[1], args, cfg)
	if err != nil {
		if found != nil {
			c.reportCut(e, name, r, found)
		}
		return fmt.Errorf("%s: error: %w", name, err)
	}
	if c.Save != "" && found.First != nil {
		if err := c.save(e, sides[1].Module, found.First); err != nil {
			return fmt.Errorf("%s: error: %w", name, err)
		}
	}
	return c.report(e, name, r, ways, found, sides[1].Module)
}

func (w way) side(ctx context.Context, m hlo.Module) (diverge.Side, error) {
	if w.passes != "" {
		pipeline, err := catalogue.Parse(w.passes)
		if err != nil {
			return diverge.Side{}, err
		}
		if m, err = (&pass.Runner{}).Run(ctx, pipeline, m); err != nil {
			return diverge.Side{}, err
		}
	}
	return diverge.Side{Module: m, Engine: w.engine}, nil
}

// arguments makes one literal for each parameter, as halo run does.
func (c *compareCmd) arguments(m hlo.Module) ([]*hlo.Literal, error) {
	run := &runCmd{Input: c.Input, Inputs: c.Inputs, Fill: c.Fill, Seed: c.Seed, saved: c.saved}
	if run.Fill == "" && c.Inputs == "" && len(c.Input) == 0 {
		run.Fill = string(arrays.Random)
	}
	all, err := run.arguments(halo.SignatureOf(m).Parameters, grid{1, 1})
	if err != nil {
		return nil, err
	}
	leaves, params := all[0], []*hlo.Literal(nil)
	for i := range m.Entry().NumParameters() {
		var p *hlo.Literal
		p, leaves = hlo.LiteralOfLeaves(m.Entry().Parameter(i).Shape(), leaves)
		params = append(params, p)
	}
	return params, nil
}

// report says what was found. Results that differ are a failure.
func (c *compareCmd) report(e *env, name string, r *record, ways [2]way, found *diverge.Report, m hlo.Module) error {
	say := func(format string, args ...any) {
		if !c.JSON {
			fmt.Fprintf(e.stdout, name+": "+format+"\n", args...)
		}
	}
	say("a is %v, b is %v", ways[0], ways[1])
	if len(found.A) != len(found.B) {
		return fmt.Errorf("%s: error: a has %s, b %d", name, count(len(found.A), "result", "results"), len(found.B))
	}
	var records []any
	bad := 0
	for i, want := range found.A {
		got := found.B[i]
		if !slices.Equal(got.Shape().Dimensions(), want.Shape().Dimensions()) || got.Shape().IsArray() != want.Shape().IsArray() || ways[0].file == "" && !got.Shape().Compatible(want.Shape()) {
			bad++ // nothing can be compared, and that is no success
			say("result %d is %v in a and %v in b", i, want.Shape(), got.Shape())
			continue
		}
		if !want.Shape().IsArray() {
			continue
		}
		d := c.measure(got, want)
		if d.Bad > 0 {
			bad++
		}
		fields := d.fields()
		fields["result"], fields["shape"] = i, want.Shape().WithoutLayout().String()
		records = append(records, fields)
		if c.Verbose || d.Bad > 0 || len(found.A) <= fewResults {
			say("result %d, %v: %v", i, want.Shape().WithoutLayout(), d)
		}
	}
	r.add("compare", records)
	if d := found.First; d != nil {
		measured := c.measure(d.Got, d.Want)
		fields := measured.fields()
		fields["instruction"], fields["computation"], fields["execution"] = d.Instruction.Name(), d.Computation, d.Execution
		fields["opcode"], fields["within"] = d.Instruction.Opcode().String(), d.Within
		r.add("first", fields)
		way := ""
		if len(d.Within) > 0 {
			way = " (within " + strings.Join(d.Within, ", ") + ")"
		}
		say("the first value that departs is %s%s, %v %v, execution %d, in computation %s%s", d.Instruction.Name(), leafText(d.Instruction, d.Leaf),
			d.Instruction.Shape().WithoutLayout(), d.Instruction.Opcode(), d.Execution, d.Computation, way)
		if where := origin.NewFinder(m, hlo.Module{}).Of(d.Instruction); where.Where() != "" {
			say("it comes from %s", where.Where())
			fields["source"], fields["op_name"] = where.Source, where.OpName
		}
		if d.Partner != d.Instruction.Name() {
			say("its counterpart in a is %s", d.Partner)
			fields["counterpart"] = d.Partner
		}
		say("there, b against a: %v", measured)
		switch {
		case d.Local != nil:
			say("it departs by itself: with the operands that a has, too, the largest difference is %.3g, relative %.3g", d.Local.MaxAbs, d.Local.MaxRel)
		case d.Inherited:
			say("no instruction departs by itself: small differences have built up until here")
		case len(d.Unpaired) > 0:
			say("a has no counterpart for what it reads: %s", strings.Join(abridged4(d.Unpaired), ", "))
		}
		fields["inherited"], fields["unpaired"] = d.Inherited, d.Unpaired
	} else if bad > 0 {
		say("no value that both have departs before the results do")
	}
	for i, born := range []*diverge.Birth{found.NaNA, found.NaNB} {
		if born == nil {
			continue
		}
		r.add("nan_"+ways[i].name, map[string]any{"instruction": born.Instruction.Name(), "computation": born.Computation,
			"execution": born.Execution, "element": born.Element, "operands": born.Operands, "given": born.Parameter})
		say("%s", birthText(ways[i].name, born))
	}
	if found.Unseen > 0 {
		say("%d values were too large to be kept, and are not compared", found.Unseen)
	}
	if bad > 0 {
		return fmt.Errorf("%s: error: %s", name, differ(bad, len(found.A)))
	}
	return nil
}

// reportCut says what was seen of executions that were cut short.
func (c *compareCmd) reportCut(e *env, name string, r *record, found *diverge.Report) {
	cut := found.Cut
	fields := map[string]any{"values_a": cut.A, "values_b": cut.B}
	text := fmt.Sprintf("cut short after %s of a and %s of b", count(cut.A, "value", "values"), count(cut.B, "value", "values"))
	if !cut.Last.IsZero() {
		fields["last"] = cut.Last.Name()
		text += fmt.Sprintf(", the last of %s", cut.Last.Name())
	}
	switch d := found.First; {
	case d != nil:
		fields["first"] = d.Instruction.Name()
		text += fmt.Sprintf("; the first that departs is %s, execution %d: %v", d.Instruction.Name(), d.Execution, c.measure(d.Got, d.Want))
	case cut.B > 0:
		text += "; none that both have departs"
	}
	r.add("cut", fields)
	if !c.JSON {
		fmt.Fprintf(e.stdout, "%s: %s\n", name, text)
	}
}

func leafText(in hlo.Instruction, leaf int) string {
	if in.Shape().IsTuple() {
		return fmt.Sprintf(", leaf %d", leaf)
	}
	return ""
}

// birthText says where a NaN comes from.
func birthText(side string, b *diverge.Birth) string {
	var leaf hlo.Shape
	i := 0
	for _, s := range b.Instruction.Shape().Leaves {
		leaf = s
		i++
		if i > b.Leaf {
			break
		}
	}
	where := fmt.Sprintf("%s%s at %v", b.Instruction.Name(), leafText(b.Instruction, b.Leaf), indexOf(leaf, b.Element))
	if b.Parameter {
		return fmt.Sprintf("%s is given a NaN: parameter %s", side, where)
	}
	text := fmt.Sprintf("%s makes its first NaN in %s, execution %d, in computation %s", side, where, b.Execution, b.Computation)
	if len(b.Operands) > 0 {
		text += fmt.Sprintf(": %v(%s)", b.Instruction.Opcode(), strings.Join(b.Operands, ", "))
	}
	return text
}
