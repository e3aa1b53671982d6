package verifier_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// Shape inference against what XLA wrote: for every instruction of every module of the corpus, the shape that the rule of its op computes
// is the written one, dimensions, element types and tuples; layouts are the instruction's own.

// tally counts instructions.
type tally struct {
	modules, instructions int
	stated                int // the rule checks what is written, and takes some of it over
	differ                []string
}

// inferences compares all instructions of a module.
func (n *tally) inferences(name string, m hlo.Module) {
	n.modules++
	contextOf := verifier.ShapeContexts(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true})
	for c := range m.Computations() {
		for in := range c.Instructions() {
			ctx := contextOf(in)
			n.instructions++
			if hlo.Info(in.Opcode()).CanInfer && in.Opcode() != hlo.OpBroadcast {
				ctx.Stated = preferredType(in)
			} else {
				n.stated++
			}
			if s, err := hlo.InferShape(ctx); err != nil || !s.Compatible(in.Shape()) {
				n.differ = append(n.differ, name+" "+in.Opcode().String()+" %"+in.Name()+" "+in.Shape().String()+": "+s.String()+" "+text(err))
			}
		}
	}
}

// preferredType is what inference may know of the result: contractions may give any element type.
func preferredType(in hlo.Instruction) hlo.Shape {
	switch in.Opcode() {
	case hlo.OpDot, hlo.OpRaggedDot, hlo.OpScaledDot, hlo.OpConvolution:
		return in.Shape()
	}
	return hlo.Shape{}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestInferCorpus(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "corpus")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no shared tree beside the repository")
	}
	var files, tests tally
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "hlo"), func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hlo" {
			return err
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, part := range parser.Split(string(data)) {
			if m, err := parser.Parse(path, part.Text); err == nil {
				rel, _ := filepath.Rel(root, path)
				files.inferences(filepath.ToSlash(rel), m)
			}
		}
		return nil
	}))
	// Of XLA's test modules, those that XLA's verifier is known to accept.
	s := bufio.NewScanner(shared(t, "corpus/xla_tests/modules.jsonl"))
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var row moduleRow
		require.NoError(t, json.Unmarshal(s.Bytes(), &row))
		if !row.Verified {
			continue
		}
		m, err := parser.Parse("", row.Text)
		require.NoError(t, err, row.ID)
		if !strings.Contains(strings.Join(row.VerifyFlags, " "), "unbounded") {
			tests.inferences(row.ID, m)
		}
	}
	mixed := "a mixed-precision module: the result is written narrower than the operands are"
	known := map[string]string{
		"hlo/hlo/tools/tests/generate_hlo_test_checks_test_input.hlo":     "operands of calls are of other shapes than the parameters",
		"hlo/hlo/translate/hlo_to_mhlo/tests/import.hlo":                  "made to be imported, not to be legal: reducers and comparators return tuples, a window is larger than its kernel",
		"hlo/tools/hlo_diff/hlo_diff_result_test.cc#1":                    mixed,
		"hlo/transforms/simplifiers/float_normalization_test.cc#4":        mixed,
		"hlo/transforms/simplifiers/float_normalization_test.cc#6":        mixed,
		"hlo/transforms/simplifiers/hlo_element_type_converter_test.cc#2": mixed,
		"service/hlo_verifier_test.cc#87":                                 mixed,
		"service/while_loop_constant_sinking_test.cc#8":                   "the body of a while returns more than it takes; XLA compares each with its own side only",
	}
	for _, n := range []struct {
		name string
		tally
	}{{"files", files}, {"XLA's tests", tests}} {
		t.Logf("%s: %d modules, %d instructions, of which %d are checked against what is written; %d differ", n.name, n.modules, n.instructions, n.stated, len(n.differ))
		for _, d := range n.differ {
			t.Log(d)
			module, _, _ := strings.Cut(d, " ")
			assert.Contains(t, known, module)
		}
		assert.NotZero(t, n.instructions)
	}
}
