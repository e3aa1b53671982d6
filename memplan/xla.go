package memplan

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// XLA is what XLA says that the same module needs, from the files that it dumps beside the module.
type XLA struct {
	File        string       `json:"file"`
	Total       int64        `json:"total_bytes"`
	Allocations []Allocation `json:"allocations"`
}

// Allocation is one of XLA's.
type Allocation struct {
	Bytes int64 `json:"bytes"`
	// Kind is parameter, output, constant, thread-local or temporary; "" where the file does not say.
	Kind   string   `json:"kind,omitempty"`
	Values []string `json:"values"` // names of instructions, or shapes where the file has no names
}

// Of sums the allocations of a kind.
func (x *XLA) Of(kind string) (sum int64) {
	for _, a := range x.Allocations {
		if a.Kind == kind {
			sum += a.Bytes
		}
	}
	return sum
}

// ParseXLA reads a buffer assignment (…-buffer-assignment.txt), which has exact numbers and names, or a memory usage report (…-memory-usage-report.txt),
// where sizes are rounded and shapes stand for names.
func ParseXLA(file string, data []byte) (*XLA, error) {
	x := &XLA{File: file, Allocations: []Allocation{}}
	switch {
	case bytes.HasPrefix(data, []byte("BufferAssignment:")):
		return x, x.assignment(data)
	case bytes.Contains(data[:min(len(data), 4096)], []byte("cumulative_size")) || bytes.HasPrefix(data, []byte("Memory Space:")) || bytes.HasPrefix(data, []byte("Total bytes")):
		return x, x.usage(data)
	}
	return nil, fmt.Errorf("%s: error: this is neither a buffer assignment nor a memory usage report of XLA", file)
}

// lines are the forms of lines in XLA's files.
var lines = sync.OnceValue(func() (l struct{ allocation, value, usage, total *regexp.Regexp }) {
	l.allocation = regexp.MustCompile(`^allocation (\d+): (?:0x[0-9a-f]+, )?size (\d+)(.*)$`)
	l.value = regexp.MustCompile(`^\s*value: <\d+ (\S+?)(?:\{[\d,]*\})? @\d+>`)
	l.usage = regexp.MustCompile(`^\s*\S+\(\s*\d+%\);\s*([\d.]+)(B|KiB|MiB|GiB|TiB);\s*\d+;\s*\d+;\s*(.*)$`)
	l.total = regexp.MustCompile(`^Total bytes(?: used)?: (\d+)`)
	return l
})

func (x *XLA) assignment(data []byte) error {
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, len(data)+1)
	for scan.Scan() {
		line := scan.Text()
		if strings.HasPrefix(line, "Total bytes used:") || line == "Used values:" || line == "" && len(x.Allocations) > 0 {
			break
		}
		if m := lines().allocation.FindStringSubmatch(line); m != nil {
			n, err := strconv.ParseInt(m[2], 10, 64)
			if err != nil {
				return fmt.Errorf("%s: error: %q: %w", x.File, line, err)
			}
			x.Allocations = append(x.Allocations, Allocation{Bytes: n, Kind: kindIn(m[3]), Values: []string{}})
			x.Total += n
			continue
		}
		if m := lines().value.FindStringSubmatch(line); m != nil && len(x.Allocations) > 0 {
			a := &x.Allocations[len(x.Allocations)-1]
			a.Values = append(a.Values, m[1])
		}
	}
	if len(x.Allocations) == 0 {
		return fmt.Errorf("%s: error: there is no allocation in this buffer assignment", x.File)
	}
	return scan.Err()
}

// kindIn is the kind that the end of an allocation's line gives.
func kindIn(text string) string {
	switch {
	case strings.Contains(text, "parameter "):
		return "parameter"
	case strings.Contains(text, "constant"):
		return "constant"
	case strings.Contains(text, "live-out") || strings.Contains(text, "output shape"):
		return "output"
	case strings.Contains(text, "thread-local"):
		return "thread-local"
	}
	return Temporary
}

func (x *XLA) usage(data []byte) error {
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, len(data)+1)
	open := false
	for scan.Scan() {
		line := scan.Text()
		if m := lines().total.FindStringSubmatch(line); m != nil {
			n, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				return fmt.Errorf("%s: error: %q: %w", x.File, line, err)
			}
			x.Total += n
			continue
		}
		if strings.Contains(line, "cumulative_size") { // a table for each allocation
			open = true
			x.Allocations = append(x.Allocations, Allocation{Values: []string{}})
			continue
		}
		if m := lines().usage.FindStringSubmatch(line); m != nil && open {
			n, err := sizeOf(m[1], m[2])
			if err != nil {
				return fmt.Errorf("%s: error: %q: %w", x.File, line, err)
			}
			a := &x.Allocations[len(x.Allocations)-1]
			a.Bytes += n
			a.Values = append(a.Values, m[3])
		}
	}
	if x.Total == 0 && len(x.Allocations) == 0 {
		return fmt.Errorf("%s: error: there is no allocation in this memory usage report", x.File)
	}
	return scan.Err()
}

func sizeOf(number, unit string) (int64, error) {
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, err
	}
	for _, u := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		if u == unit {
			break
		}
		x *= 1024
	}
	return int64(x), nil
}
