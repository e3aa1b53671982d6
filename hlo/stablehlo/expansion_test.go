package stablehlo_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
)

var update = flag.Bool("update", false, "rewrite generated files")

const corpus = "../../../shared/corpus/stablehlo/"

// rows calls f with every row of a table of the corpus.
func rows[T any](t testing.TB, name string, f func(T)) {
	t.Helper()
	file, err := os.Open(corpus + name + ".jsonl.gz")
	if os.IsNotExist(err) {
		t.Skip("the corpus is not there: ../shared/corpus/stablehlo")
	}
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<28)
	for s.Scan() {
		var row T
		require.NoError(t, json.Unmarshal(s.Bytes(), &row))
		f(row)
	}
	require.NoError(t, s.Err())
}

// opRow is a row of the table of single operations: what XLA's converter makes of a program.
type opRow struct{ ID, MLIR, HLO, Error string }

var expanded = regexp.MustCompile(`^(_asin_acos_kernel|acos|acosh|asin|asinh|atan|atanh|bessel_i1e|conj|cosh|digamma|erf_inv|erfc|is_inf|` +
	`is_neg_inf|is_pos_inf|lgamma|sinh|square|next_after|polygamma|zeta|stablehlo_exponential|stablehlo_log|stablehlo_log_plus_one|stablehlo_sqrt)_` +
	`(f16|bf16|f32|f64|complex<f32>|complex<f64>|f8E4M3FN|f8E5M2)$`)

// TestExpansions makes the file of expansions again from the converter's output.
func TestExpansions(t *testing.T) {
	made := map[string]string{}
	var keys []string
	rows(t, "ops", func(r opRow) {
		m := expanded.FindStringSubmatch(r.ID)
		if m == nil || r.HLO == "" {
			return
		}
		name, ours := strings.CutPrefix(m[1], "stablehlo_")
		if ours && !strings.HasPrefix(m[2], "complex") {
			return
		}
		module, err := parser.Parse(r.ID, r.HLO)
		require.NoError(t, err)
		entry := module.Entry()
		typ := entry.Parameter(0).Shape().Type().String()
		key := name + " " + typ
		made[key] = fmt.Sprintf("%s %d\n%s", key, entry.NumParameters(), expansionLines(t, entry))
		keys = append(keys, key)
	})
	// Small types that go through f32 need no expansion of their own.
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		name, typ, _ := strings.Cut(key, " ")
		if strings.HasPrefix(typ, "f8") || typ == "f16" || typ == "bf16" {
			if throughF32(made[key], made[name+" f32"], typ) {
				continue
			}
		}
		b.WriteString(made[key] + "\n")
	}
	const file = "gen_expansions.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o666))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(have), b.String(), "run with -update")
}

// throughF32 reports whether an expansion is that of f32 with conversions around it.
func throughF32(text, wide, typ string) bool {
	lines, wideLines := strings.Split(strings.TrimSpace(text), "\n"), strings.Split(strings.TrimSpace(wide), "\n")
	converts := 0
	for _, l := range lines[1:] {
		if strings.HasPrefix(l, "convert ") {
			converts++
		}
	}
	return converts >= 2 && len(lines)-converts == len(wideLines) && strings.Contains(lines[len(lines)-1], "convert "+typ)
}

// expansionLines are the instructions of a computation as lines of the file.
func expansionLines(t *testing.T, entry hlo.Computation) string {
	var b strings.Builder
	number := map[hlo.InstrID]int{}
	for i := range entry.NumParameters() {
		number[entry.Parameter(i).ID()] = i
	}
	next := entry.NumParameters()
	for in := range entry.Instructions() {
		op := in.Opcode()
		switch {
		case op == hlo.OpParameter:
			continue
		case op == hlo.OpConstant:
			require.True(t, in.Shape().IsScalar())
			b.WriteString("constant " + in.Shape().Type().String() + " ")
			data := in.Literal().Bytes()
			for i := range data {
				fmt.Fprintf(&b, "%02x", data[len(data)-1-i])
			}
			b.WriteString("\n")
			number[in.ID()] = next
			next++
			continue
		case op == hlo.OpBroadcast:
			number[in.ID()] = number[in.Operand(0)]
			continue
		}
		require.Zero(t, in.NumCallees())
		b.WriteString(op.String() + " " + in.Shape().Type().String())
		for id := range in.OperandIDs() {
			n, ok := number[id]
			require.True(t, ok)
			fmt.Fprintf(&b, " %d", n)
		}
		switch a := in.Attrs().(type) {
		case nil:
		case *hlo.CompareAttrs:
			require.Equal(t, hlo.CompareDefault, a.Type)
			b.WriteString(" " + a.Direction.String())
		default:
			t.Fatalf("attributes %T", a)
		}
		b.WriteString("\n")
		number[in.ID()] = next
		next++
	}
	require.True(t, next > 0)
	return b.String()
}
