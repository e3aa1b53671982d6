package halocmd

import (
	"context"
	"fmt"
	"io"
	goruntime "runtime"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/profile"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels"
)

// profileFlags say where profiles go.
type profileFlags struct {
	Timeline string  `help:"Write a timeline for chrome://tracing and Perfetto." placeholder:"FILE.json"`
	Pprof    string  `help:"Write a profile for go tool pprof." placeholder:"FILE.pb.gz"`
	HTML     string  `name:"html" help:"Write a page with a flame graph and the tables." placeholder:"FILE.html"`
	Top      natural `help:"How many ops, lines and loops the text shows; 0 is all." default:"20"`
}

// profileCmd measures what programs spend their time on.
type profileCmd struct {
	Files []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, .bef, directories, - for standard input."`
	Level optLevel `embed:""`

	Input   []string      `help:"Array for one parameter leaf, as of halo run." placeholder:"N=FILE" sep:"none"`
	Inputs  string        `help:"Arrays for the parameters, as of halo run." placeholder:"FILE"`
	Fill    string        `help:"Values of missing inputs: zeros, ones, random, uniform or model." default:"model" placeholder:"KIND"`
	Seed    uint64        `help:"Seed of the fill." placeholder:"S"`
	For     time.Duration `help:"Run again and again for this long: 1s. At least one run is measured, after one to warm up." default:"1s" placeholder:"TIME"`
	Runs    int           `help:"Measure this many runs instead." placeholder:"N"`
	Threads threadCount   `help:"Compute workers. Default: one for each processor." placeholder:"N"`
	Profile string        `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	JSON    bool          `name:"json" help:"One JSON object for each file."`

	Out        profileFlags `embed:""`
	Devices    deviceFlags  `embed:""`
	shapeFlags `embed:""`
}

// Help is what --help says beyond the flags.
func (profileCmd) Help() string {
	return `Compiles a program, runs it for a while, and reports its time by op, by line of the user's program, and by loop, with the limit of each op (halo calibrate
measures the machine) and advice. Missing inputs are generated.

The time of a loop is measured; the times of its ops are estimated from some of the rounds, so that measuring takes at most about a fiftieth of the
time. A loop over a few numbers is compiled to one program, and counts as one op.
Other ops on a few numbers, which a run without a profile joins to programs after some thousand rounds, run one by one.

  halo profile step.hlo
  halo profile --inputs=in.npz --html=step.html --timeline=step.json step.hlo`
}

func (c *profileCmd) Run(e *env) error {
	r := &runCmd{Level: c.Level, Input: c.Input, Inputs: c.Inputs, Fill: c.Fill, Seed: c.Seed, Elided: "auto", Engine: string(halo.BEF),
		Threads: c.Threads, Profile: c.Profile, JSON: c.JSON, Devices: c.Devices, shapeFlags: c.shapeFlags}
	if err := r.check(); err != nil {
		return usageError{err}
	}
	if c.Runs < 0 || c.For < 0 {
		return usageError{fmt.Errorf("--runs=%d --for=%v: want positive numbers", c.Runs, c.For)}
	}
	ctx, stop := interruptible(e)
	defer stop()
	return e.each(c.Files, c.JSON, func(in *input, rec *record) error {
		if in.kind == source.HostProgram || in.kind == source.BEF && isHostProgram(in.data) {
			return fmt.Errorf("%s: error: a host program has no HLO to profile; halo run --trace shows its kernels", in.name)
		}
		p, err := c.measure(ctx, e, in, r)
		if err != nil {
			return err
		}
		return c.Out.deliver(e, p, rec)
	})
}

// spansKept is how many steps each lane of a timeline has at most.
const spansKept = 20_000

func (c *profileCmd) measure(ctx context.Context, e *env, in *input, r *runCmd) (*profile.Profile, error) {
	meter := runtime.NewMeter(runtime.MeterOptions{Spans: spansKept, Alike: true})
	r.saved = in.saved
	p, err := r.prepare(ctx, e, in, halo.Observer{Meter: meter, Rounds: e.progress.loops()})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	e.progress.at("making the inputs")
	args, _, err := r.argumentsOf(p, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", in.name, err)
	}
	e.progress.at("running")
	var results [][]*hlo.Literal
	once := func() error {
		host, err := r.Feeds.host(r, p.grid)
		if err == nil {
			meter.Begin()
			if results, err = p.run(ctx, args, results, host); err == nil {
				meter.End()
			}
		}
		return err
	}
	if err := once(); err != nil {
		return nil, err
	}
	meter.Reset()
	runs := 0
	for began := time.Now(); runs == 0 || c.Runs == 0 && c.goesOn(time.Since(began), meter) || runs < c.Runs; runs++ {
		e.progress.at(fmt.Sprintf("run %d", runs+1))
		err := once()
		if err != nil && runs > 0 && ctx.Err() != nil {
			fmt.Fprintf(e.stderr, "%s: note: %v: this is the profile of the runs so far\n", in.name, context.Cause(ctx))
			runs++ // it has begun, and counts as an execution of what it came to
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return r.profileOf(p, meter, runs), nil
}

// enough is how many runs have to be measured step by step. Where other processes disturb many, it may take longer to see them than was asked for.
const enough = 5

// goesOn reports whether there is to be another run after so much time.
func (c *profileCmd) goesOn(t time.Duration, meter *runtime.Meter) bool {
	return t < c.For || t < 3*c.For && meter.Outside().Timed < enough
}

// profileOf makes the profile of runs that a meter measured.
func (c *runCmd) profileOf(p *prepared, meter *runtime.Meter, runs int) *profile.Profile {
	m, _ := kernels.Module(p.Runtime())
	threads := int(c.Threads)
	if threads == 0 {
		threads = goruntime.GOMAXPROCS(0)
	}
	return profile.New(p.Runtime(), meter, profile.Config{Runs: runs, Threads: threads, Rates: rates(), Module: m, Text: p.text})
}

// deliver writes a profile in the forms that were asked for.
func (f *profileFlags) deliver(e *env, p *profile.Profile, r *record) error {
	for _, x := range []struct {
		path  string
		write func(io.Writer) error
	}{{f.Timeline, p.WriteTrace}, {f.Pprof, p.WritePprof}, {f.HTML, p.WriteHTML}} {
		if x.path == "" {
			continue
		}
		if err := create(x.path, x.write); err != nil {
			return err
		}
	}
	r.add("profile", p)
	if e.records {
		return nil
	}
	return p.WriteText(e.stdout, profile.TextOptions{Top: int(f.Top), Width: terminalWidth(e.stdout)})
}
