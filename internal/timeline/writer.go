package timeline

import (
	"bufio"
	"encoding/json"
	"io"
)

// Event is an event of the format. Times are in microseconds.
type Event struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	ID       int            `json:"id,omitempty"` // of a flow or of an asynchronous span
	Bind     string         `json:"bp,omitempty"` // of the end of a flow: "e" for the span around it
	Args     map[string]any `json:"args,omitempty"`
}

// Writer writes events as one JSON array, a line for each.
type Writer struct {
	out       *bufio.Writer
	separator string
	err       error
}

// NewWriter returns a writer to w. Its errors come from Close.
func NewWriter(w io.Writer) *Writer { return &Writer{out: bufio.NewWriter(w), separator: "[\n"} }

// Write writes an event.
func (w *Writer) Write(e Event) {
	line, err := json.Marshal(e)
	if err != nil {
		w.err = err
		return
	}
	w.out.WriteString(w.separator) // Flush reports
	w.out.Write(line)
	w.separator = ",\n"
}

// Close ends the array. It does not close what is below.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if w.separator == "[\n" { // no event
		w.out.WriteByte('[')
	}
	w.out.WriteString("\n]\n")
	return w.out.Flush()
}
