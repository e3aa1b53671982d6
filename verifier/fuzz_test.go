package verifier_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// Whatever a module is, Verify comes back.

// fuzzConfigs are the default, and everything switched on.
var fuzzConfigs = func() []verifier.Config {
	all := verifier.Config{Profile: verifier.XLA, CanChangeLayout: verifier.CanChangeLayout, ShapeSize: verifier.PackedSize}
	for _, o := range verifier.Options() {
		if o.Bool && o.Default == "false" {
			if err := o.Set(&all, "true"); err != nil {
				panic(err)
			}
		}
	}
	strict := all
	strict.MixedPrecision, strict.BitcastDifferentSize = false, false
	return []verifier.Config{{}, all, strict}
}()

// verifyAll verifies a module in every configuration, and writes the findings.
func verifyAll(m hlo.Module) {
	for _, cfg := range fuzzConfigs {
		_ = verifier.Verify(m, cfg).Error()
	}
}

// fuzzTexts are the examples of all rules and, where it is there, small files of the corpus.
func fuzzTexts() []string {
	var texts []string
	for _, r := range verifier.Rules() {
		if e, ok := verifier.ExampleOf(r.ID); ok {
			if e.Breaks != "" {
				texts = append(texts, e.Breaks)
			}
			texts = append(texts, e.Mended)
		}
	}
	_ = filepath.WalkDir(filepath.Join("..", "..", "shared", "corpus", "hlo"), func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hlo" {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil && len(data) < 4096 {
			texts = append(texts, string(data))
		}
		return nil
	})
	return texts
}

func FuzzVerify(f *testing.F) {
	for _, text := range fuzzTexts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := (parser.Config{MaxConstantBytes: 1 << 20}).Parse("", text); err == nil {
			verifyAll(m)
		}
	})
}

// FuzzVerifyEdits verifies what edits make of legal modules: graphs that no text can say.
func FuzzVerifyEdits(f *testing.F) {
	w := newWreckers(f)
	for i := range uint64(100) {
		f.Add(i, uint8(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, edits uint8) {
		verifyAll(w.wreck(rand.New(rand.NewPCG(seed, 1)), int(edits%16)))
	})
}

func TestVerifySurvivesAnyEdit(t *testing.T) {
	w := newWreckers(t)
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 10_000
	if testing.Short() {
		rounds = 1000
	}
	for round := range rounds {
		m := w.wreck(rng, 1+rng.IntN(3))
		require.NotPanics(t, func() { verifyAll(m) }, "round %d", round)
	}
}

// wreckers have modules to edit, and the parts that edits put into them.
type wreckers struct {
	seeds  []hlo.Module
	shapes []hlo.Shape
	attrs  []hlo.OpAttrs
	common []*hlo.Common
}

func newWreckers(t testing.TB) *wreckers {
	w := new(wreckers)
	for _, text := range fuzzTexts() {
		m, err := parser.Parse("", text)
		if err != nil {
			continue
		}
		w.seeds = append(w.seeds, m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				w.shapes, w.attrs = append(w.shapes, in.Shape()), append(w.attrs, in.Attrs())
				if c := in.Common(); c != nil {
					w.common = append(w.common, c)
				}
			}
		}
	}
	require.NotEmpty(t, w.seeds)
	w.shapes = append(w.shapes, hlo.Shape{}, hlo.MakeTuple(), hlo.MakeOpaque(), hlo.MakeShape(hlo.F32, 4).WithLayout(&hlo.Layout{MinorToMajor: []int64{9}}),
		hlo.MakeBuffer(hlo.MakeShape(hlo.F32, 4)), hlo.MakeShape(hlo.S4, 1<<40, 1<<40))
	return w
}

// wreck is some module after some edits.
func (w *wreckers) wreck(rng *rand.Rand, edits int) hlo.Module {
	m := w.seeds[rng.IntN(len(w.seeds))]
	e := m.Edit()
	var comps []hlo.CompID
	for c := range e.Computations() {
		comps = append(comps, c)
	}
	for range edits {
		c := e.Computation(comps[rng.IntN(len(comps))])
		in := c.Instr(hlo.InstrID(rng.IntN(c.NumInstructions())))
		switch rng.IntN(10) {
		case 0:
			in.SetShape(w.shapes[rng.IntN(len(w.shapes))])
		case 1:
			in.SetAttrs(w.attrs[rng.IntN(len(w.attrs))])
		case 2:
			in.SetOpcode(hlo.Opcode(1 + rng.IntN(hlo.NumOpcodes-1)))
		case 3:
			var ids []hlo.InstrID
			for range rng.IntN(7) {
				ids = append(ids, hlo.InstrID(rng.IntN(c.NumInstructions())))
			}
			in.SetOperands(ids...)
		case 4:
			var ids []hlo.CompID
			for range rng.IntN(3) {
				ids = append(ids, comps[rng.IntN(len(comps))])
			}
			in.SetCallees(ids...)
		case 5:
			c.SetRoot(in.ID())
		case 6:
			in.SetOpcode(hlo.Opcode(1 + rng.IntN(hlo.NumOpcodes-1)))
			if mk := hlo.Info(in.Opcode()).NewAttrs; mk != nil {
				in.SetAttrs(mk())
			}
		case 7:
			c.SetExecutionThread([]string{"", "side"}[rng.IntN(2)])
		case 8:
			if len(w.common) > 0 {
				in.SetCommon(w.common[rng.IntN(len(w.common))])
			}
		case 9:
			cfg := *e.Config()
			cfg.NumPartitions, cfg.UseSPMD, cfg.ReplicaCount, cfg.IsScheduled = int64(rng.IntN(4)), rng.IntN(2) == 0, int64(rng.IntN(4)), rng.IntN(2) == 0
			e.SetConfig(&cfg)
		}
	}
	return e.Freeze()
}
