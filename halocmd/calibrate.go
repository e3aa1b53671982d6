package halocmd

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
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
	if json.Unmarshal(text, &read) != nil || min(read.Flops, read.Transcendentals, read.Bytes, read.Link, read.Dispatch, read.Latency) <= 0 {
		return r // a file that cannot be used is none
	}
	return read
})

// probes are programs each of which one rate decides.
var probes = map[string]string{
	"flops": `HloModule flops
ENTRY main {
  x = f32[512,512] parameter(0)
  ROOT d = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}`,
	"transcendentals": `HloModule transcendentals
ENTRY main {
  x = f32[65536] parameter(0)
  ROOT e = f32[65536] tanh(x)
}`,
	"bytes": `HloModule bytes
ENTRY main {
  x = f32[8388608] parameter(0)
  ROOT a = f32[8388608] negate(x)
}`,
}

// calibrate measures what one thread does in a second.
func calibrate() (analysis.Rates, error) {
	r := analysis.OneCore
	for name, text := range probes {
		seconds, k, err := measure(text)
		if err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		switch name {
		case "flops":
			r.Flops = float64(k.Flops) / seconds
		case "transcendentals":
			r.Transcendentals = float64(k.Transcendentals) / seconds
		case "bytes":
			r.Bytes = float64(k.Bytes) / seconds
		}
	}
	const ops = 2000
	text := "HloModule dispatch\nENTRY main {\n  v0 = f32[16] parameter(0)\n"
	for i := range ops {
		text += fmt.Sprintf("  v%d = f32[16] %s(v%d)\n", i+1, []string{"negate", "abs"}[i%2], i)
	}
	seconds, _, err := measure(text + fmt.Sprintf("  ROOT r = f32[16] copy(v%d)\n}", ops))
	r.Dispatch = seconds / ops
	return r, err
}

// measure is the shortest of many runs of a program on one thread.
func measure(text string) (seconds float64, k analysis.Cost, err error) {
	m, err := parser.Parse("probe", text)
	if err != nil {
		return 0, k, err
	}
	p, err := halo.Compile(context.Background(), m, halo.Options{Passes: "O0", Threads: 1})
	if err != nil {
		return 0, k, err
	}
	defer p.Close()
	shape := m.Entry().Parameter(0).Shape()
	x, err := hlo.NewLiteral(shape, make([]byte, shape.ByteSize()))
	if err != nil {
		return 0, k, err
	}
	best := math.Inf(1)
	for began := time.Now(); time.Since(began) < 300*time.Millisecond; {
		at := time.Now()
		if _, err := p.Run(context.Background(), x); err != nil {
			return 0, k, err
		}
		best = min(best, time.Since(at).Seconds())
	}
	return best, analysis.FindCosts(m).OfComputation(m.Entry().ID()), nil
}
