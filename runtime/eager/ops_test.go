package eager_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/difftest"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/eager"
	"github.com/gohalo/halo/runtime/workqueue"
)

// stepThrough executes the entry computation of a module op by op.
func stepThrough(rt *eager.Runtime, m hlo.Module, params [][]eager.TensorHandle, seen map[hlo.Opcode]int) ([]eager.TensorHandle, error) {
	at := make(map[hlo.InstrID][]eager.TensorHandle)
	for in := range m.Entry().PostOrder() {
		if in.Opcode() == hlo.OpParameter {
			at[in.ID()] = params[hlo.AttrsOf[hlo.ParameterAttrs](in).Number]
			continue
		}
		var args []eager.TensorHandle
		for id := range in.OperandIDs() {
			args = append(args, at[id]...)
		}
		op, err := rt.MakeOpOf(m, in)
		if err != nil {
			return nil, err
		}
		if at[in.ID()], err = op.Call(nil, args...); err != nil {
			return nil, err
		}
		if seen != nil {
			seen[in.Opcode()]++
		}
	}
	return at[m.Entry().Root().ID()], nil
}

// notExecuted lists the ops that cannot be executed by themselves, or not by a runtime that is told of no host: those are in
// communication_test.go.
var notExecuted = map[hlo.Opcode]string{
	hlo.OpParameter:        "it is an operand",
	hlo.OpSetDimensionSize: "its result has a dynamic dimension",
	hlo.OpSend:             "nobody receives", hlo.OpSendDone: "nobody receives",
	hlo.OpRecv: "nobody sends", hlo.OpRecvDone: "nobody sends",
	hlo.OpInfeed: "there is no infeed", hlo.OpOutfeed: "there is no outfeed",
}

// refused lists cases that use what executing op by op cannot do.
var refused = map[string]string{
	"async carried by a loop": "the loop is a program of its own, and what was started outside of it is not in it",
}

// TestOps executes the cases of testdata/ops op by op, on both paths and queues. The evaluator says what is right.
func TestOps(t *testing.T) {
	files, err := filepath.Glob("../../testdata/ops/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	files = append(files, "testdata/ops.txtar")
	multi := workqueue.NewMulti(workqueue.Config{Workers: 2})
	defer multi.Close()
	for _, general := range []bool{false, true} {
		rt := eager.NewRuntime(eager.Options{General: general, Host: runtime.NewHost(runtime.HostOptions{Queue: multi})})
		seen := make(map[hlo.Opcode]int)
		for _, f := range files {
			archive, err := txtar.ParseFile(f)
			require.NoError(t, err)
			for _, c := range archive.Files {
				if refused[c.Name] != "" {
					continue
				}
				t.Run(fmt.Sprintf("general=%v/%s/%s", general, strings.TrimSuffix(filepath.Base(f), ".txtar"), c.Name), func(t *testing.T) {
					compareWithEvaluator(t, rt, string(c.Data), seen)
				})
			}
		}
		rt.Quiesce()
		for op := range hlo.Opcodes {
			if why, not := notExecuted[op]; not {
				assert.Zero(t, seen[op], "%v: %s", op, why)
			} else {
				assert.NotZero(t, seen[op], "no case has %v", op)
			}
		}
	}
}

func compareWithEvaluator(t *testing.T, rt *eager.Runtime, text string, seen map[hlo.Opcode]int) {
	module := "HloModule m\n"
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "= ") && !strings.HasPrefix(line, "! ") {
			module += line
		}
	}
	m, err := parser.Parse("case.hlo", module)
	require.NoError(t, err)
	want, wantErr := eval.Module(context.Background(), m, nil, eval.Options{})
	handles, err := stepThrough(rt, m, nil, seen)
	if err == nil {
		err = rt.Await(t.Context(), handles...)
	}
	if wantErr != nil {
		require.Error(t, err)
		return
	}
	if err != nil && strings.Contains(err.Error(), "dynamic dimensions") {
		t.Skip(err)
	}
	require.NoError(t, err)
	leaves := want.Leaves()
	require.Len(t, handles, len(leaves))
	for i, h := range handles {
		got, err := rt.Literal(t.Context(), h)
		require.NoError(t, err)
		if leaves[i].Shape().IsArray() {
			requireClose(t, leaves[i], got)
		}
	}
}

// requireClose compares bits, and floating-point numbers within the tolerance of their type.
func requireClose(t *testing.T, want, got *hlo.Literal) {
	t.Helper()
	require.True(t, want.Shape().EqualIgnoringLayout(got.Shape()), "want %v, got %v", want.Shape(), got.Shape())
	if slices.Equal(want.Bytes(), got.Bytes()) {
		return
	}
	var ws, gs []float64
	switch typ := want.Shape().Type(); typ {
	case hlo.F32:
		for i, w := range hlo.Values[float32](want) {
			ws, gs = append(ws, float64(w)), append(gs, float64(hlo.Values[float32](got)[i]))
		}
	case hlo.C64:
		for i, w := range hlo.Values[complex64](want) {
			g := hlo.Values[complex64](got)[i]
			ws, gs = append(ws, float64(real(w)), float64(imag(w))), append(gs, float64(real(g)), float64(imag(g)))
		}
	case hlo.F64:
		ws, gs = hlo.Values[float64](want), hlo.Values[float64](got)
	default:
		require.Equal(t, want.String(), got.String())
	}
	for i := range ws {
		if math.IsNaN(ws[i]) && math.IsNaN(gs[i]) || ws[i] == gs[i] {
			continue
		}
		assert.InDelta(t, ws[i], gs[i], difftest.Tolerance(want.Shape().Type())*(1+math.Abs(ws[i])), "element %d", i)
	}
}

// TestRandomModules steps through random modules.
func TestRandomModules(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{})
	for seed := range uint64(60) {
		m, err := hlotest.Random(seed, 12)
		require.NoError(t, err)
		var args []*hlo.Literal
		var params [][]eager.TensorHandle
		for i, s := range m.Entry().Signature().Parameters {
			data := make([]byte, s.ByteSize())
			for k := range data {
				data[k] = byte(k * (i + 1) % 2)
			}
			l, err := hlo.NewLiteral(s, data)
			require.NoError(t, err)
			args = append(args, l)
			params = append(params, []eager.TensorHandle{eager.Of(l)})
		}
		want, err := eval.Module(t.Context(), m, args, eval.Options{})
		require.NoError(t, err)
		handles, err := stepThrough(rt, m, params, nil)
		require.NoError(t, err, "seed %d", seed)
		for i, h := range handles {
			got, err := rt.Literal(t.Context(), h)
			require.NoError(t, err, "seed %d", seed)
			requireClose(t, want.Leaves()[i], got)
		}
	}
}
