package halocmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/hlo/stablehlo/export"
	"github.com/gohalo/halo/runtime/distributed"
)

// runCmd runs programs: HLO in text, proto or BEF form, and host programs.
type runCmd struct {
	Files []string `arg:"" name:"file" help:"Programs to run: .hlo, .pb, .bef, .mlir, directories, - for standard input."`
	Level optLevel `embed:""`

	Input           []string    `help:"Array for one parameter leaf: N=file.npy, or dD/N=file.npy for device D only, or by its name, x=file.npy; .raw or .bin files are elements without a header." placeholder:"N=FILE" sep:"none"`
	Inputs          string      `help:"Arrays for the parameters (.npz or .safetensors), by leaf number (0, 1, ... or arr_0, arr_1, ...), by name (p['b']), or for one device (d0/0, d0/1, ..., d1/0, ...). A .npy, .raw or .bin file is the only parameter." placeholder:"FILE"`
	Weights         []string    `help:"Arrays for parameters by their names: .safetensors, .npz, or a folder of .npy, .npz and .safetensors files. Names need only end alike: params['layers'][0]['w'] takes layers.0.w. Other arrays are ignored." placeholder:"FILE" sep:"none"`
	Fill            string      `help:"Values of missing inputs: zeros, ones, random, uniform or model." placeholder:"KIND"`
	Seed            uint64      `help:"Seed of the fill." placeholder:"S"`
	Elided          string      `help:"Constants that the text elides: error, fill (with XLA's filler), or auto (fill if the inputs are filled too)." default:"auto" enum:"auto,error,fill"`
	Output          string      `short:"o" help:"Write the results to this file, keys as of --inputs; a single one also as .npy, .raw or .bin." placeholder:"FILE.npz"`
	Print           bool        `help:"Print the results as HLO literals, large ones abridged."`
	Full            bool        `help:"With --print, print all elements."`
	Engine          string      `help:"bef: compile and run; eval: the reference evaluator." default:"bef" enum:"bef,eval"`
	Compare         string      `help:"Compare the results with the arrays in this file." placeholder:"REF.npz"`
	Verbose         bool        `short:"v" help:"With --compare, show how much each result differs."`
	Bench           int         `help:"Time this many runs after a warm-up run." placeholder:"N"`
	FastMath        bool        `name:"xla_cpu_enable_fast_math" help:"Allow rewrites that hold for real numbers only, as opt --fp=fast does. The evaluator runs no passes."`
	ExcessPrecision bool        `name:"xla_allow_excess_precision" help:"Do not round to a narrow type between operations that are computed in f32, as XLA on GPU and TPU. Default: round after each, as JAX on CPU."`
	HostCallbacks   string      `help:"Calls of the program into Python, as jax.debug.print makes them: print what is passed, and refuse to answer; zeros: print, and answer with zeros; skip: answer with zeros in silence; fail." default:"print" enum:"print,zeros,skip,fail"`
	Threads         threadCount `help:"Compute workers. Default: one for each processor." placeholder:"N"`
	Profile         string      `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla" hint:"this is the verifier's profile, halo profile FILE says where the time goes"`
	JSON            bool        `name:"json" help:"One JSON object for each file."`

	tolerances `embed:""`

	Devices    deviceFlags      `embed:""`
	Processes  distributedFlags `embed:""`
	Split      spmdFlags        `embed:""`
	Feeds      feedFlags        `embed:""`
	Async      updateFlags      `embed:""`
	shapeFlags `embed:""`
	Host       hostRunFlags `embed:""`

	given    func() (map[string]*npz.Array, error) // see files
	weights  map[string]*npz.Array                 // see allWeights
	callback func(*halo.HostCall) error
	ahead    *arrays.Ahead    // of the parameters of the program at hand, or nil
	job      *distributed.Job // or nil
	narrow   bool             // the program computes in types narrower than f32
	exported *export.File     // the file that is run, when it is one of jax.export
	saved    *saved           // what there is beside it, when torch_xla wrote it
}

// Help is what --help says beyond the flags.
func (runCmd) Help() string {
	return `Verifies a program, optimises it for this machine, and runs it: HLO, StableHLO, a compiled BEF file or a host program. A program for several
devices runs with workers that stand for them. Inputs that are not given are an error, unless --fill generates them.

  halo run step.hlo --inputs in.npz --print
  halo run step.hlo --inputs in.npz --compare expected.npz
  halo run step.hlo --fill=random --bench 100
  halo run step.hlo --fill=random --trace=step.json    for chrome://tracing and Perfetto
  halo run decoder.mlir --shapes=s32[1,17] --weights=model.safetensors --fill=random
  halo run model --inputs in.npz                       a folder that torch_xla wrote, with its parameters
  halo run sharded.hlo --spmd --inputs in.npz          split over the devices, and joined again

The exit status is 1 if a result differs from --compare.`
}

func (c *runCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return usageError{err}
	}
	if err := c.Host.check(); err != nil {
		return err
	}
	if err := oneFunction(c.Files); err != nil {
		return usageError{err}
	}
	leave, err := c.Processes.join(e)
	if err != nil {
		return err
	}
	if e.job != nil {
		if len(c.Files) > 1 {
			return leave(usageError{errors.New("several processes run one program at a time")})
		}
		c.job = e.job
		c.nameByRank(e)
	}
	c.readAhead()
	ctx, stop := interruptible(e)
	err = e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if in.kind == source.HostProgram || in.kind == source.BEF && isHostProgram(in.data) {
			return c.Host.run(ctx, e, in)
		}
		return c.program(ctx, e, in, r)
	})
	stop()
	return leave(err)
}

// maxBench bounds the runs of which times are kept.
const maxBench = 10_000_000

// check finds what is wrong with the flags before any file is read.
func (c *runCmd) check() error {
	if c.Fill != "" {
		if _, err := arrays.Fill(arrays.FillKind(c.Fill), 0, 0, hlo.MakeShape(hlo.F32)); err != nil {
			return fmt.Errorf("--fill: %w", err)
		}
	}
	for _, in := range c.Input {
		key, file, ok := strings.Cut(in, "=")
		if !ok || key == "" || file == "" {
			return fmt.Errorf("--input %s: want N=FILE.npy, where N is the number or the name of a parameter leaf", in)
		}
	}
	if err := c.Devices.check(); err != nil {
		return err
	}
	switch {
	case c.Output != "" && len(c.Files) > 1:
		return fmt.Errorf("--output names one file, but there are %d programs", len(c.Files))
	case c.Bench < 0:
		return errors.New("--bench: want a positive number of runs")
	case c.Bench > 0 && (c.Print || c.Output != "" || c.Compare != ""):
		return errors.New("--bench only times: it goes with none of --print, --output and --compare")
	case c.Bench > 0 && c.Host.Trace != "":
		return errors.New("--bench only times: a trace would be part of the time")
	case c.Engine == "eval" && (c.Async.Updates || len(c.Async.CancelAt) > 0):
		return errors.New("--updates and --cancel-at are about what the runtime does: they go with --engine=bef")
	case c.Engine == "eval" && c.Host.Trace != "":
		return errors.New("--trace shows what the runtime does: it goes with --engine=bef")
	case c.Bench > maxBench:
		return fmt.Errorf("--bench: want at most %d runs", maxBench)
	}
	return c.tolerances.check()
}

// program runs an HLO program.
func (c *runCmd) program(ctx context.Context, e *env, in *input, r *record) (err error) {
	observer := halo.Observer{Rounds: e.progress.loops()}
	if c.Host.Trace != "" { // the kernels of an HLO program are all there is to see, at any level
		finish, err := c.traceRun(ctx, e, &observer)
		if err != nil {
			return err
		}
		defer func() { err = finish(err) }()
	}
	c.Async.watch(e.stdout, &observer)
	c.saved = in.saved
	if c.Split.SPMD {
		if p, err := c.spmdOf(ctx, e, in, observer); err != nil {
			return err
		} else if p != nil {
			return c.runSPMD(ctx, e, in, r, p)
		}
	}
	if c.exported, err = openExport(in); err != nil {
		return err
	}
	c.callback = c.hostCallback(e)
	defer func() {
		if c.ahead != nil {
			c.ahead.Stop()
			c.ahead = nil
		}
	}()
	p, err := c.prepare(ctx, e, in, observer)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := c.Async.known(in.name, p.text); err != nil {
		return err
	}
	e.progress.at("making the inputs")
	var carried *proto.Snapshot
	if in.kind == source.HLOProto && proto.IsSnapshot(in.data) {
		if carried, err = proto.DecodeSnapshot(in.data); err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
	}
	args, own, err := c.argumentsOf(p, carried)
	if err != nil {
		return fmt.Errorf("%s: error: %w", in.name, err)
	}
	e.progress.at("running")
	if c.Bench > 0 {
		return c.bench(ctx, e, p, args, r)
	}
	host, err := c.Feeds.host(c, p.grid)
	if err != nil {
		return err
	}
	results, err := p.run(ctx, args, donated(p.Program, args), host)
	if err != nil {
		if results != nil && c.Print {
			return errors.Join(c.print(e, p.grid, results, r), err)
		}
		return err
	}
	if err := host.writeOutfeed(ctx, e); err != nil {
		return err
	}
	if results, err = c.collected(ctx, e, p, results); results == nil {
		return err
	}
	if err := c.deliver(e, in.name, p.grid, results, r); err != nil {
		return err
	}
	if own && carried.Result != nil && c.Compare == "" {
		return c.compareWith(e, in.name, results[0], carried.Result.Leaves(), r)
	}
	return nil
}

// collected is the results that this process delivers: all of them, those of its devices if it has a file of its own, or nil.
func (c *runCmd) collected(ctx context.Context, e *env, p *prepared, results [][]*hlo.Literal) ([][]*hlo.Literal, error) {
	if e.job == nil {
		return results, nil
	}
	var own bool
	if c.Output, own = e.ownFile(c.Output); own {
		return results, nil
	}
	return e.collect(ctx, p.Signature(), results)
}

// arraysOf leaves out tokens, which have no value.
func arraysOf(results [][]*hlo.Literal) [][]*hlo.Literal {
	all := make([][]*hlo.Literal, len(results))
	for d := range results {
		for _, l := range results[d] {
			if l.Shape().IsArray() {
				all[d] = append(all[d], l)
			}
		}
	}
	return all
}

// argumentsOf makes the arguments: those that a snapshot carries, unless the flags give others.
func (c *runCmd) argumentsOf(p *prepared, carried *proto.Snapshot) (args [][]*hlo.Literal, own bool, err error) {
	if carried != nil && c.Inputs == "" && len(c.Input) == 0 && len(c.Weights) == 0 && c.Fill == "" {
		devices := carried.Devices
		if devices == nil && len(carried.Arguments) > 0 {
			devices = [][]*hlo.Literal{carried.Arguments}
		}
		if len(devices) > 0 {
			if n := p.grid.devices(); len(devices) != n {
				return nil, false, fmt.Errorf("the snapshot carries the arguments of %s, and %s", count(len(devices), "device", "devices"), count(n, "device runs", "devices run"))
			}
			for _, list := range devices {
				var leaves []*hlo.Literal
				for _, a := range list {
					leaves = append(leaves, a.Leaves()...)
				}
				args = append(args, leaves)
			}
			return args, true, nil
		}
	}
	args, err = c.arguments(p.Signature().Parameters, p.grid)
	return args, false, err
}

// isKey reports whether a key names a parameter leaf, as 3 or as d0/3.
func isKey(key string) bool {
	if device, leaf, ok := strings.Cut(key, "/"); ok {
		number, isDevice := strings.CutPrefix(device, "d")
		return isDevice && isNumber(number) && isNumber(leaf)
	}
	return isNumber(key)
}

func isNumber(s string) bool {
	n, err := strconv.ParseUint(s, 10, 32)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// deliver prints, writes and compares the results of each device.
func (c *runCmd) deliver(e *env, name string, g grid, results [][]*hlo.Literal, r *record) error {
	results = arraysOf(results)
	if c.Print {
		if err := c.print(e, g, results, r); err != nil {
			return err
		}
	}
	if c.Output != "" {
		if err := create(c.Output, func(w io.Writer) error { return arrays.WriteFile(w, c.Output, named(g, results)) }); err != nil {
			return err
		}
	}
	if c.Compare != "" {
		return c.compare(e, name, g, results, r)
	}
	return nil
}

// named gives the leaves of each device their keys.
func named(g grid, results [][]*hlo.Literal) (all []arrays.Named) {
	for d, leaves := range results {
		for i, l := range leaves {
			all = append(all, arrays.Named{Key: g.key(d, i), Literal: l})
		}
	}
	return all
}

func (c *runCmd) print(e *env, g grid, results [][]*hlo.Literal, r *record) error {
	var records []any
	for d, leaves := range results {
		for i, l := range leaves {
			if l == nil { // it failed
				if !c.JSON {
					if _, err := fmt.Fprintf(e.stdout, "result %d was not computed\n", i); err != nil {
						return err
					}
				}
				records = append(records, nil)
				continue
			}
			shape := string(l.Shape().AppendText(nil, false))
			value := ""
			if c.JSON || c.Full {
				value = string(l.AppendText(nil))
			} else {
				value = string(arrays.AppendAbridged(nil, l))
			}
			fields, prefix := map[string]any{"shape": shape, "value": value}, ""
			if g.devices() > 1 {
				fields["device"], fields["result"], prefix = d, i, g.key(d, i)+" "
			}
			records = append(records, fields)
			if !c.JSON {
				if _, err := fmt.Fprintf(e.stdout, "%s%s %s\n", prefix, shape, value); err != nil {
					return err
				}
			}
		}
	}
	r.add("results", records)
	return nil
}
