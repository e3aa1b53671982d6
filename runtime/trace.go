package runtime

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Tracer sees what an execution does. Begin and End nest within a lane; lanes are independent of each other, and one lane
// is used by one goroutine at a time. Implementations must be safe for concurrent use.
type Tracer interface {
	Begin(lane int, category, name string)
	End(lane int, category, name string)
}

// Categories of trace events.
const (
	TraceKernel   = "kernel"
	TraceFunction = "function"
)

// ChromeTracer writes events in the format that Chrome's trace viewer and Perfetto read. Lanes appear as threads, times
// are microseconds since the tracer was made.
type ChromeTracer struct {
	start time.Time

	mu    sync.Mutex
	w     *bufio.Writer
	count int
	err   error
}

// NewChromeTracer returns a tracer that writes to w. Close it to complete the file.
func NewChromeTracer(w io.Writer) *ChromeTracer {
	return &ChromeTracer{start: time.Now(), w: bufio.NewWriter(w)}
}

type chromeEvent struct {
	Name     string  `json:"name"`
	Category string  `json:"cat"`
	Phase    string  `json:"ph"`
	Time     float64 `json:"ts"`
	Process  int     `json:"pid"`
	Thread   int     `json:"tid"`
}

// Begin implements Tracer.
func (t *ChromeTracer) Begin(lane int, category, name string) { t.event("B", lane, category, name) }

// End implements Tracer.
func (t *ChromeTracer) End(lane int, category, name string) { t.event("E", lane, category, name) }

func (t *ChromeTracer) event(phase string, lane int, category, name string) {
	at := time.Since(t.start)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	separator := ",\n"
	if t.count == 0 {
		separator = "[\n"
	}
	t.count++
	text, err := json.Marshal(chromeEvent{name, category, phase, float64(at.Nanoseconds()) / 1000, 1, lane})
	if err == nil {
		t.w.WriteString(separator)
		_, err = t.w.Write(text)
	}
	t.err = err
}

// Close ends the list of events and reports the first error of writing. It does not close the writer.
func (t *ChromeTracer) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	end := "\n]\n"
	if t.count == 0 {
		end = "[]\n"
	}
	t.w.WriteString(end)
	return t.w.Flush()
}
