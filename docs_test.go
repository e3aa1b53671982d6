package halo_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/runtime/kernels"
)

var update = flag.Bool("update", false, "rewrite generated documents")

// TestGeneratedDocs holds the documents about ops to the tables they are made from.
func TestGeneratedDocs(t *testing.T) {
	for path, text := range map[string]string{"docs/ops.md": opsDoc(), "docs/status.md": statusDoc()} {
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		}
		have, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(have, []byte(text)), "%s is stale: go test . -run TestGeneratedDocs -update", path)
	}
}

func opsDoc() string {
	var b strings.Builder
	b.WriteString("# Ops\n\nMade from the op table (`hlo/op_*.go`). Attributes in print order; `*` marks required ones. Operands: how many.\n\n")
	b.WriteString("| op | operands | attributes | computations | what it is |\n|---|---|---|---|---|\n")
	for op := range hlo.Opcodes {
		r := hlo.Info(op)
		var attrs []string
		if r.NewAttrs != nil {
			for _, f := range hlo.AttrFields(r.NewAttrs()) {
				star := ""
				if f.Required {
					star = "*"
				}
				attrs = append(attrs, "`"+string(f.Key)+"`"+star)
			}
		}
		if r.HasAccuracy {
			attrs = append(attrs, "`result_accuracy`")
		}
		var callees []string
		for _, c := range r.Callees {
			callees = append(callees, "`"+c.Name+"`")
		}
		fmt.Fprintf(&b, "| `%v` | %s | %s | %s | %s |\n", op, arity(r.Arity), strings.Join(attrs, " "), strings.Join(callees, " "), r.Doc)
	}
	return b.String()
}

func arity(a hlo.Arity) string {
	switch {
	case a.IsFixed():
		return fmt.Sprint(a.Min)
	case a.Max < 0:
		return fmt.Sprintf("%d or more", a.Min)
	}
	return fmt.Sprintf("%d to %d", a.Min, a.Max)
}

func statusDoc() string {
	var b strings.Builder
	b.WriteString(`# Status

Made from the tables of each floor, op by op. *Text*: read and printed. *Shape*: a rule infers and checks the result shape. *Eval*: the reference
evaluator knows it. *Lower*: "kernel" means a kernel of its own, "control" a control kernel over functions, "dissolved" that nothing of it is
left at run time, "legalized" that a pass rewrites it first, "refused" that lowering says no. *Fast*: there is a kernel made for speed; other
kernels go through the evaluator.

| op | text | shape | eval | lower | fast |
|---|---|---|---|---|---|
`)
	mark := map[bool]string{true: "yes", false: "–"}
	for op := range hlo.Opcodes {
		fmt.Fprintf(&b, "| `%v` | yes | %s | %s | %s | %s |\n", op, mark[hlo.Info(op).Shape != nil], mark[eval.Has(op)], lower.How(op), mark[kernels.HasFast(op)])
	}
	return b.String()
}
