package halocmd

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/profile"
)

// measuredFlag names a file of measured times.
type measuredFlag struct {
	Measured string `help:"Show the times of this profile, which halo profile --json wrote, beside those of the cost model." placeholder:"FILE.json"`
}

// profiles are those of a file; none, if none was named.
type profiles struct {
	file string
	all  []*profile.Profile
}

// eachMeasured reads the profile, and calls work with each program and its times, if there are some.
func (f *measuredFlag) eachMeasured(e *env, files []string, o moduleOptions, asJSON bool, work func(*input, *record, hlo.Module, *profile.Measurements) error) error {
	profiles, err := f.read()
	if err != nil {
		return err
	}
	return e.each(files, asJSON, func(in *input, r *record) error {
		m, err := e.loadModule(in, o)
		if err != nil {
			return err
		}
		times, err := profiles.of(in, m)
		if err != nil {
			return err
		}
		return work(in, r, m, times)
	})
}

func (f *measuredFlag) read() (profiles, error) {
	if f.Measured == "" {
		return profiles{}, nil
	}
	file, err := os.Open(f.Measured)
	if err != nil {
		return profiles{}, fmt.Errorf("--measured: %w", err)
	}
	defer file.Close()
	all, err := profile.Read(file)
	if err != nil {
		return profiles{}, fmt.Errorf("%s: error: %w", f.Measured, err)
	}
	return profiles{f.Measured, all}, nil
}

// of finds the measurements of a module: nil, if no file was named. A profile of another module is an error, since its times would be taken for those
// of instructions that happen to have the same names.
func (p profiles) of(in *input, m hlo.Module) (*profile.Measurements, error) {
	if p.file == "" {
		return nil, nil
	}
	var names []string
	for _, x := range p.all {
		if x.Module == m.Name() {
			return x.For(m), nil
		}
		names = append(names, x.Module)
	}
	return nil, fmt.Errorf("%s: error: %s measured %s, not %s\n  hint: halo profile --json %s writes its profile", in.name, p.file, strings.Join(names, ", "), m.Name(), in.name)
}

// measured is what a profile says of an instruction.
type measured struct {
	Time   *float64 `json:"measured_seconds,omitempty"` // of a run
	Within []string `json:"measured_within,omitempty"`  // whose time it is, if more is in that
}

func measurementOf(times *profile.Measurements, in hlo.Instruction) measured {
	if times == nil {
		return measured{}
	}
	x, ok := times.Of(in)
	if !ok {
		return measured{}
	}
	return measured{&x.Seconds, x.Within}
}

// own reports whether the time is that of the instruction alone.
func (m measured) own() bool { return m.Time != nil && len(m.Within) == 0 }

// text is the column of a table.
func (m measured) text() string {
	if m.Time == nil {
		return fmt.Sprintf("%13s", "-")
	}
	return fmt.Sprintf("%10.4f ms", *m.Time*1e3)
}

// most is the more of what the model believes and what was measured: a table has the surprises at its top, too.
func (x *expensive) most() float64 {
	if x.own() {
		return max(x.Seconds, *x.Time)
	}
	return x.Seconds
}

// believed compares the cost model with a profile, over the instructions that were measured one by one.
type believed struct {
	Instructions int     `json:"instructions"`
	Others       int     `json:"not_measured"` // alone: fused, compiled into a loop, folded, or not executed
	Model        float64 `json:"model_seconds"`
	Profile      float64 `json:"measured_seconds"`
}

func believedOf(all []expensive) *believed {
	b := &believed{}
	for i := range all {
		x := &all[i]
		if !x.own() {
			b.Others++
			continue
		}
		b.Instructions++
		b.Model += x.Seconds
		b.Profile += *x.Time
	}
	return b
}

func (b *believed) print(out io.Writer) {
	fmt.Fprintf(out, "  measured: %s %.4g ms, believed %.4g ms", count(b.Instructions, "instruction", "instructions"), b.Profile*1e3, b.Model*1e3)
	if b.Others > 0 {
		fmt.Fprintf(out, "; %d were not measured alone", b.Others)
	}
	fmt.Fprintln(out)
}
