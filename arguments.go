package halo

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

// ArgumentError says which argument, or which memory for a result, does not fit the program.
type ArgumentError struct {
	Device  int // -1 where one device runs
	Index   int // of the leaf
	Result  bool
	Name    string // as of Value
	Problem string
}

// Error names the leaf as the file does.
func (e *ArgumentError) Error() string {
	var b strings.Builder
	b.WriteString("halo: ")
	if e.Device >= 0 {
		fmt.Fprintf(&b, "device %d: ", e.Device)
	}
	what := "parameter"
	if e.Result {
		what = "result"
	}
	fmt.Fprintf(&b, "%s %d", what, e.Index)
	if e.Name != "" {
		fmt.Fprintf(&b, ", %s", e.Name)
	}
	return b.String() + ": " + e.Problem
}

// check holds arguments, and memory for results, to the signature. It does not keep args and results, so that they may lie on the stack.
func (s *Signature) check(args, results [][]*hlo.Literal, from, to int, apart *extents) error {
	if results != nil && len(results) != len(args) {
		return fmt.Errorf("halo: memory for the results of devices: got %d, want %d", len(results), len(args))
	}
	known := apart != nil && results != nil && apart.are(args[0], results[0])
	for d := from; d < to; d++ {
		device := d
		if len(args) == 1 {
			device = -1
		}
		if len(args[d]) != len(s.Parameters) {
			return fmt.Errorf("halo: arguments: got %d, want %d%s", len(args[d]), len(s.Parameters), s.list())
		}
		for i, a := range args[d] {
			v := &s.Parameters[i]
			if problem := v.refuses(a); problem != "" {
				return &ArgumentError{Device: device, Index: i, Name: v.Name, Problem: problem}
			}
		}
		if results == nil {
			continue
		}
		if len(results[d]) != len(s.Results) {
			return fmt.Errorf("halo: memory for results: got %d, want %d", len(results[d]), len(s.Results))
		}
		for i, r := range results[d] {
			if r == nil {
				continue
			}
			problem := s.Results[i].refuses(r)
			if problem == "" && !known {
				problem = s.overlap(args, results, d, i)
			}
			if problem != "" {
				return &ArgumentError{Device: device, Index: i, Result: true, Name: s.Results[i].Name, Problem: problem}
			}
		}
	}
	if apart != nil && results != nil && !known {
		apart.become(args[0], results[0])
	}
	return nil
}

// extents are where arguments and results were that do not overlap: a program is mostly run over the same memory again. They are numbers, and keep no memory alive.
type extents []extent

type extent struct {
	at    uintptr
	bytes int
}

func extentOf(l *hlo.Literal) extent {
	if l == nil {
		return extent{}
	}
	b := l.Bytes()
	return extent{uintptr(unsafe.Pointer(unsafe.SliceData(b))), len(b)}
}

// are reports whether arguments and results are where they were.
func (e extents) are(args, results []*hlo.Literal) bool {
	if len(e) != len(args)+len(results) {
		return false
	}
	for i, a := range args {
		if e[i] != extentOf(a) {
			return false
		}
	}
	for i, r := range results {
		if e[len(args)+i] != extentOf(r) {
			return false
		}
	}
	return true
}

func (e *extents) become(args, results []*hlo.Literal) {
	*e = (*e)[:0]
	for _, a := range args {
		*e = append(*e, extentOf(a))
	}
	for _, r := range results {
		*e = append(*e, extentOf(r))
	}
}

// refuses says why a literal is not a value of v; "" if it is one.
func (v *Value) refuses(l *hlo.Literal) string {
	switch {
	case l == nil && v.Shape.IsToken():
		return ""
	case l == nil:
		return fmt.Sprintf("got nil, want %v", v.Shape.WithoutLayout())
	case l.IsElided():
		return fmt.Sprintf("got a literal whose value was left out, want %v", v.Shape.WithoutLayout())
	case !l.Shape().Compatible(v.Shape) && !v.Shape.Accepts(l.Shape()):
		return fmt.Sprintf("got %v, want %v", l.Shape().WithoutLayout(), v.Shape.WithoutLayout())
	}
	return ""
}

// overlap says which memory the memory for a result shares that it must not share.
func (s *Signature) overlap(args, results [][]*hlo.Literal, device, result int) string {
	own := results[device][result].Bytes()
	for d, args := range args {
		for i, a := range args {
			if a != nil && overlaps(own, a.Bytes()) && !(d == device && s.aliased(i, result)) {
				return fmt.Sprintf("its memory is that of parameter %d, %s, which the program does not write over", i, s.Parameters[i].Name)
			}
		}
	}
	for d, results := range results[:device+1] {
		for i, r := range results {
			if r != nil && (d != device || i < result) && overlaps(own, r.Bytes()) {
				return fmt.Sprintf("its memory is that of result %d", i)
			}
		}
	}
	return ""
}

func overlaps(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}

// list names the parameters, as far as they fit into a message.
func (s *Signature) list() string {
	const most = 8
	var names []string
	for i, v := range s.Parameters {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, v.text())
	}
	if names == nil {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}
