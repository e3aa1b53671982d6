package halocmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/gohalo/halo/runtime"
)

const (
	traceText     = "text"     // value of --trace
	traceExecutor = "executor" // category of the scope around a function that the driver runs
	executorScope = "Bef Executor"
)

// hostTracer is the tracer of halo run: it writes text or a Chrome trace, and leaves kernels out unless they are asked for.
type hostTracer struct {
	kernels bool
	sink    runtime.Tracer
	text    *textTracer // or nil
	chrome  *runtime.ChromeTracer
	file    *os.File
}

func newHostTracer(to, level string) (*hostTracer, error) {
	t := &hostTracer{kernels: level == "debug"}
	if to == traceText {
		t.text = &textTracer{}
		t.sink = t.text
		return t, nil
	}
	file, err := createTrace(to)
	if err != nil {
		return nil, err
	}
	t.file, t.chrome = file, runtime.NewChromeTracer(file)
	t.sink = t.chrome
	return t, nil
}

// Begin implements runtime.Tracer.
func (t *hostTracer) Begin(lane int, category, name string) {
	if t.kernels || category != runtime.TraceKernel {
		t.sink.Begin(lane, category, name)
	}
}

// End implements runtime.Tracer.
func (t *hostTracer) End(lane int, category, name string) {
	if t.kernels || category != runtime.TraceKernel {
		t.sink.End(lane, category, name)
	}
}

// finish writes what was kept, text to w.
func (t *hostTracer) finish(w io.Writer) error {
	if t.text != nil {
		return t.text.print(w)
	}
	err := t.chrome.Close()
	if closeErr := t.file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// textTracer keeps scopes as lines, lane by lane, so that they nest.
type textTracer struct {
	mu    sync.Mutex
	lanes []*strings.Builder
}

func (t *textTracer) line(lane int, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.lanes) <= lane {
		t.lanes = append(t.lanes, new(strings.Builder))
	}
	t.lanes[lane].WriteString(text + "\n")
}

// Begin implements runtime.Tracer.
func (t *textTracer) Begin(lane int, category, name string) {
	if category == runtime.TraceFunction {
		name = "Function: " + name
	}
	t.line(lane, "Scope:"+name)
}

// End implements runtime.Tracer.
func (t *textTracer) End(lane int, _, _ string) { t.line(lane, "End Scope") }

func (t *textTracer) print(w io.Writer) error {
	for i := range t.lanes {
		if _, err := fmt.Fprint(w, t.lanes[i].String()); err != nil {
			return err
		}
	}
	return nil
}
