package halocmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
)

// calibrateCmd measures the machine.
type calibrateCmd struct {
	Output string `short:"o" help:"Write to this file instead of the one that other commands read." placeholder:"FILE"`
	Show   bool   `help:"Show the current rates without measuring."`
}

// Help is what --help says beyond the flags.
func (calibrateCmd) Help() string {
	return `Runs a few small programs on one thread: products, elementwise loops, exponentials, a series of tiny ops. Their rates are written as JSON to
halo/rates.json in the user's cache directory, where stats, schedule and overlap find it. HALO_RATES names another file. Without a file,
the rates of a typical core apply.

  halo calibrate
  HALO_RATES=server.json halo overlap model.hlo`
}

func (c *calibrateCmd) Run(e *env) error {
	r := rates()
	if !c.Show {
		measured, err := calibrate()
		if err != nil {
			return err
		}
		r = measured
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if !c.Show {
		path := c.Output
		if path == "" {
			if path, err = ratesFile(); err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	_, err = e.stdout.Write(text)
	return err
}

// ratesFile is where the rates of this machine are.
func ratesFile() (string, error) {
	if path := os.Getenv("HALO_RATES"); path != "" {
		return path, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for the rates: %w; -o FILE names one", err)
	}
	return filepath.Join(dir, "halo", "rates.json"), nil
}

// rates are those of this machine, if it was measured.
var rates = sync.OnceValue(func() analysis.Rates {
	r := analysis.OneCore
	path, err := ratesFile()
	if err != nil {
		return r
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return r
	}
	read := r
	if json.Unmarshal(text, &read) != nil || min(read.Link, read.Latency) <= 0 || !plausible(read) {
		return r // a file that cannot be used is none
	}
	return read
})

// plausible reports whether one core may have these rates. A machine that was busy elsewhere, or slept, seems to be another.
func plausible(r analysis.Rates) bool {
	for _, of := range [][3]float64{
		{r.Flops, 1e8, 1e14}, {r.Transcendentals, 1e6, 1e13}, {r.Bytes, 5e8, 1e13}, {1 / r.Dispatch, 1e4, 1e10},
	} {
		if !(of[0] >= of[1] && of[0] <= of[2]) {
			return false
		}
	}
	return true
}

// probe is a program that one rate decides.
type probe struct {
	name, text string
	rate       func(r *analysis.Rates, k analysis.Cost, seconds float64)
}

// chained is how many ops the probe of dispatching has.
const chained = 2000

func probes() []probe {
	return []probe{
		{"flops", `HloModule flops
ENTRY main {
  x = f32[512,512] parameter(0)
  ROOT d = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}`, func(r *analysis.Rates, k analysis.Cost, seconds float64) { r.Flops = float64(k.Flops) / seconds }},
		{"transcendentals", `HloModule transcendentals
ENTRY main {
  x = f32[65536] parameter(0)
  ROOT e = f32[65536] tanh(x)
}`, func(r *analysis.Rates, k analysis.Cost, seconds float64) {
			r.Transcendentals = float64(k.Transcendentals) / seconds
		}},
		{"bytes", `HloModule bytes
ENTRY main {
  x = f32[8388608] parameter(0)
  ROOT a = f32[8388608] negate(x)
}`, func(r *analysis.Rates, k analysis.Cost, seconds float64) { r.Bytes = float64(k.Bytes) / seconds }},
		{"dispatch", dispatchText(), func(r *analysis.Rates, _ analysis.Cost, seconds float64) { r.Dispatch = seconds / chained }},
	}
}

func dispatchText() string {
	var text strings.Builder
	text.WriteString("HloModule dispatch\nENTRY main {\n  v0 = f32[16] parameter(0)\n")
	for i := range chained {
		fmt.Fprintf(&text, "  v%d = f32[16] %s(v%d)\n", i+1, []string{"negate", "abs"}[i%2], i)
	}
	fmt.Fprintf(&text, "  ROOT r = f32[16] copy(v%d)\n}", chained)
	return text.String()
}

// calibrate measures what one thread does in a second: the best of at least three rounds of all probes, so that what else the machine does for a
// moment spoils no rate, and of more while the rates are not those of a core.
func calibrate() (analysis.Rates, error) {
	const least, most = 3, 10
	r := analysis.OneCore
	probes := probes()
	measures := make([]*measure, len(probes))
	for i, p := range probes {
		m, err := newMeasure(p.text)
		if err != nil {
			return r, fmt.Errorf("%s: %w", p.name, err)
		}
		defer m.program.Close()
		measures[i] = m
	}
	for round := 0; round < least || round < most && !plausible(r); round++ {
		for i, p := range probes {
			if err := measures[i].round(); err != nil {
				return r, fmt.Errorf("%s: %w", p.name, err)
			}
			p.rate(&r, measures[i].cost, measures[i].best)
		}
	}
	if !plausible(r) {
		return r, errors.New("the machine is too busy to be measured: its rates are not those of a processor")
	}
	return r, nil
}

// measure times a program on one thread.
type measure struct {
	program *halo.Program
	x       *hlo.Literal
	cost    analysis.Cost
	best    float64 // seconds of the shortest run
}

func newMeasure(text string) (*measure, error) {
	m, err := parser.Parse("probe", text)
	if err != nil {
		return nil, err
	}
	shape := m.Entry().Parameter(0).Shape()
	x, err := hlo.NewLiteral(shape, make([]byte, shape.ByteSize()))
	if err != nil {
		return nil, err
	}
	p, err := halo.Compile(context.Background(), m, halo.Options{Passes: "O0", Threads: 1})
	if err != nil {
		return nil, err
	}
	return &measure{p, x, analysis.FindCosts(m).OfComputation(m.Entry().ID()), math.Inf(1)}, nil
}

// round runs the program for a tenth of a second, and several times where that is not enough for it.
func (m *measure) round() error {
	const fewest = 5
	began := time.Now()
	for runs := 0; runs < fewest || time.Since(began) < 100*time.Millisecond; runs++ {
		at := time.Now()
		if _, err := m.program.Run(context.Background(), m.x); err != nil {
			return err
		}
		m.best = min(m.best, time.Since(at).Seconds())
	}
	return nil
}
