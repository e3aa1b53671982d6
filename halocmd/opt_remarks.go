package halocmd

import (
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo/pass"
)

// remarkFilter chooses remarks, as --remarks=missed:fusion,passed asks.
type remarkFilter []remarkChoice

// remarkChoice is remarks of a kind, or of all, by the passes that a pattern names, or by all.
type remarkChoice struct {
	all     bool
	kind    pass.RemarkKind
	pattern string
}

func readRemarkFilter(texts []string) (f remarkFilter, err error) {
	for _, t := range texts {
		kind, pattern, named := strings.Cut(t, ":")
		c := remarkChoice{all: kind == "all", pattern: pattern}
		if !c.all {
			if c.kind, err = pass.ParseRemarkKind(kind); err != nil {
				return nil, fmt.Errorf("--remarks: %w, or all; then perhaps a colon and a pass", err)
			}
		}
		if err := catalogue.Check(pattern); err != nil || named && pattern == "" {
			return nil, fmt.Errorf("--remarks=%s: want the name of a pass behind the colon: %w", t, err)
		}
		f = append(f, c)
	}
	return f, nil
}

func (f remarkFilter) wants(r pass.Remark) bool {
	for _, c := range f {
		if (c.all || c.kind == r.Kind) && (c.pattern == "" || pass.Matches(c.pattern, r.Pass)) {
			return true
		}
	}
	return false
}

// remark is a remark as --json shows it.
type remark struct {
	Kind        string `json:"kind"`
	Pass        string `json:"pass"`
	Computation string `json:"computation"`
	Instruction string `json:"instruction"`
	Line        uint32 `json:"line,omitempty"`
	Text        string `json:"text"`
}

// remark prints what passes say, and keeps it.
func (w *watch) remark(f remarkFilter) pass.Instrument {
	return pass.Instrument{Remark: func(r pass.Remark) {
		if !f.wants(r) {
			return
		}
		fmt.Fprintf(w.stderr, "remark: %s: %s: %%%s: %s\n", r.Kind, r.Pass, r.In.Name(), r.Text)
		w.remarks = append(w.remarks, remark{r.Kind.String(), r.Pass, r.In.Computation().Name(), r.In.Name(), r.In.Position().Line, r.Text})
	}}
}
