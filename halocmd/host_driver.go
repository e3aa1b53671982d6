package halocmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
)

// hostDriver runs the functions of a host program one after the other, as TFRT's driver does, and prints what they return.
type hostDriver struct {
	flags     *hostRunFlags
	console   *hostkernels.Console
	allocator runtime.HostAllocator
	profile   *runtime.ProfileAllocator // of the allocator, if it counts
	tracer    *hostTracer

	mu      sync.Mutex
	failed  bool
	sources map[string][]string // lines of files that locations name
}

func newHostDriver(c *hostRunFlags, e *env) *hostDriver {
	d := &hostDriver{flags: c, console: hostkernels.NewConsole(e.stdout, e.stderr), sources: make(map[string][]string)}
	d.allocator = runtime.NewHeapAllocator()
	// The flag has been checked.
	if budget, _ := c.budget(); budget >= 0 {
		const exempt = 32
		d.allocator = &runtime.BudgetAllocator{Base: d.allocator, Limit: budget, Exempt: exempt, Log: logWriter{d.console}}
	} else if c.HostAllocator != "heap" {
		d.profile = &runtime.ProfileAllocator{Base: d.allocator}
		d.allocator = d.profile
	}
	return d
}

// logWriter makes each write a line of the log.
type logWriter struct{ console *hostkernels.Console }

func (w logWriter) Write(b []byte) (int, error) {
	w.console.Logf(hostkernels.Info, "%s", strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// fail makes the exit status that of a failure.
func (d *hostDriver) fail() {
	d.mu.Lock()
	d.failed = true
	d.mu.Unlock()
}

// diagnose prints an error that a kernel reports, when it does.
func (d *hostDriver) diagnose(st *runtime.Error) {
	d.fail()
	diag := hostprog.Diagnostic{Msg: "runtime error: " + st.Message}
	if loc := st.Location; loc.Line > 0 {
		diag.Pos = hostprog.Position{File: loc.File, Line: loc.Line, Column: loc.Col}
		diag.Source = d.sourceLine(loc.File, loc.Line)
	}
	d.console.Errorf("%s\n", diag.String())
}

// diagnoseLoad prints what keeps a program from being loaded: all unknown kernels, or the first error of another sort.
func (d *hostDriver) diagnoseLoad(err error) {
	var unknown *runtime.UnknownKernelsError
	if !errors.As(err, &unknown) {
		d.diagnose(async.StatusOf(err))
		return
	}
	for _, k := range unknown.Kernels {
		st := async.Errorf(async.NotFound, "unknown kernel name '%s'", k.Name)
		if file, line, col, ok := k.Location.Position(); ok {
			st.Location = async.Location{File: file, Line: int(line), Col: int(col)}
		}
		d.diagnose(st)
	}
}

// maxSource is the size up to which a source file is read to show a line of it.
const maxSource = 64 << 20

// sourceLine returns a line of a file, or "" if it cannot be had.
func (d *hostDriver) sourceLine(file string, line int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines, ok := d.sources[file]
	if !ok {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() <= maxSource {
			if text, err := os.ReadFile(file); err == nil {
				lines = strings.Split(string(text), "\n")
			}
		}
		d.sources[file] = lines
	}
	if line > len(lines) {
		return ""
	}
	return lines[line-1]
}

// runFunction runs one function in a request of its own and waits until nothing of it is left. It fails only if it is interrupted.
func (d *hostDriver) runFunction(ctx context.Context, host *runtime.Host, fn *runtime.Function) error {
	if fn.NumArgs() > 0 {
		d.console.Printf("--- Not running '%s' because it has arguments.\n", fn.Name())
		return nil
	}
	d.console.Printf("--- Running '%s':\n", fn.Name())
	resources := runtime.NewResourceContext()
	options := runtime.RequestOptions{Data: []any{d.console}, Resources: resources}
	if d.tracer != nil {
		options.Tracer = d.tracer
	}
	req := runtime.NewRequest(ctx, host, options)
	defer req.Close()
	var err error
	if fn.Kind() == bef.Sync {
		d.runSync(req, fn)
	} else {
		err = d.runAsync(ctx, req, fn)
	}
	host.Quiesce()
	if closeErr := resources.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (d *hostDriver) runAsync(ctx context.Context, req *runtime.Request, fn *runtime.Function) error {
	results := make([]*async.Value, fn.NumResults())
	ec := req.NewExecContext()
	d.trace(fn, func() { // the number of arguments has been checked
		_ = fn.Execute(ec, nil, results)
	})
	if err := req.Host().Queue().Await(ctx, results...); err != nil {
		return fmt.Errorf("'%s' was interrupted: %w", fn.Name(), err)
	}
	if len(results) == 0 {
		return nil
	}
	texts := make([]string, len(results))
	for i, v := range results {
		if st := v.Status(); st != nil {
			texts[i] = d.formatError(st)
		} else {
			texts[i] = formatResult(fn.ResultType(i), v)
		}
	}
	d.console.Printf("'%s' returned %s\n", fn.Name(), strings.Join(texts, ","))
	for _, v := range results {
		v.DropRef()
	}
	return nil
}

func (d *hostDriver) runSync(req *runtime.Request, fn *runtime.Function) {
	results := make([]runtime.SyncValue, fn.NumResults())
	var err error
	d.trace(fn, func() { err = fn.Call(req.NewExecContext(), nil, results) })
	if err != nil {
		d.console.Printf("'%s' returned %s\n", fn.Name(), d.formatError(async.StatusOf(err)))
		return
	}
	if len(results) == 0 {
		return
	}
	texts := make([]string, len(results))
	for i := range results {
		texts[i] = formatResult(fn.ResultType(i), results[i].Value())
	}
	d.console.Printf("'%s' returned %s\n", fn.Name(), strings.Join(texts, ","))
	for i := range results {
		results[i].Clear()
	}
}

// trace runs a function in the executor's scope.
func (d *hostDriver) trace(fn *runtime.Function, run func()) {
	if d.tracer == nil {
		run()
		return
	}
	const firstLane = 0 // of a request, on the goroutine that starts it
	d.tracer.Begin(firstLane, traceExecutor, executorScope)
	defer d.tracer.End(firstLane, traceExecutor, executorScope)
	if fn.Kind() == bef.Sync { // the runtime tells of the others
		d.tracer.Begin(firstLane, runtime.TraceFunction, fn.Name())
		defer d.tracer.End(firstLane, runtime.TraceFunction, fn.Name())
	}
	run()
}

func (d *hostDriver) formatError(st *runtime.Error) string {
	d.fail()
	if d.flags.PrintErrorCode {
		return fmt.Sprintf("<<error: %s, code: %v>>", st.Message, st.Code)
	}
	return fmt.Sprintf("<<error: %s>>", st.Message)
}

// formatResult prints a value of one of the types that have a form of their own; of the others only the type.
func formatResult(typ string, v *async.Value) string {
	switch typ {
	case "i1":
		if x, ok := async.GetIfPresent[bool](v); ok {
			if x {
				return "1"
			}
			return "0"
		}
	case "i32":
		if x, ok := async.GetIfPresent[int32](v); ok {
			return fmt.Sprint(x)
		}
	case "i64":
		if x, ok := async.GetIfPresent[int64](v); ok {
			return fmt.Sprint(x)
		}
	case "f32":
		if x, ok := async.GetIfPresent[float32](v); ok {
			return hostkernels.FormatFloat('e', float64(x))
		}
	case "f64":
		if x, ok := async.GetIfPresent[float64](v); ok {
			return hostkernels.FormatFloat('e', x)
		}
	}
	return typ + " value"
}

// reportMemory prints what the allocator counted, if that is asked for or something has leaked.
func (d *hostDriver) reportMemory() {
	if d.profile == nil {
		return
	}
	leak := d.profile.Leak()
	checking := d.flags.HostAllocator == "leak-check"
	if checking && leak == "" {
		return
	}
	var report strings.Builder
	d.profile.Report(&report)
	d.console.Printf("%s", report.String())
	if checking {
		d.console.Printf("%s\n", leak)
		d.fail()
	}
}
