package halocmd

import (
	"fmt"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

// compare reports how far the results are from the reference; a difference beyond the tolerance is a failure.
func (c *runCmd) compare(e *env, name string, g grid, results [][]*hlo.Literal, r *record) error {
	ref, err := arrays.ReadFile(c.Compare)
	if err != nil {
		return fmt.Errorf("%s: error: %w", c.Compare, unwrapPath(err))
	}
	total := 0
	for _, leaves := range results {
		total += len(leaves)
	}
	if len(ref) > total {
		return fmt.Errorf("%s: error: it has %s, but %s has %s", c.Compare, count(len(ref), "array", "arrays"), name, count(total, "result", "results"))
	}
	var records []any
	var v agreement
	bad, worst := 0, 0.0
	for d, leaves := range results {
		for i, got := range leaves {
			key, shape := g.key(d, i), got.Shape().WithoutLayout()
			a := ref[key]
			if a == nil {
				return fmt.Errorf("%s: error: there is no array %s for result %d, %v", c.Compare, key, i, shape)
			}
			want, err := arrays.Literal(a, got.Shape())
			if err != nil {
				return fmt.Errorf("%s: error: array %s: %w", c.Compare, key, err)
			}
			diff := c.measure(got, want)
			if diff.Bad > 0 {
				worst = max(worst, diff.MaxAbs/magnitude(want))
				bad++
			}
			fields := diff.fields()
			fields["result"], fields["shape"] = i, shape.String()
			if g.devices() > 1 {
				fields["device"] = d
			}
			records = append(records, fields)
			v.add(e, c, fmt.Sprintf("%s: result %s, %s", name, key, shape), key, diff)
		}
	}
	r.add("compare", records)
	if bad > 0 {
		return fmt.Errorf("%s: error: %s from %s%s", name, differ(bad, total), c.Compare, c.precisionHint(worst))
	}
	v.agreed(e, c, name, total, c.Compare)
	return nil
}

// agreement is what a comparison comes to.
type agreement struct {
	worst difference
	key   string // of the result
}

// add takes a result in. Differences are shown, and everything with -v.
func (v *agreement) add(e *env, c *runCmd, where, key string, d difference) {
	if v.key == "" || d.MaxRel > v.worst.MaxRel {
		v.worst, v.key = d, key
	}
	if (d.Bad > 0 || c.Verbose) && !c.JSON {
		fmt.Fprintf(e.stderr, "%s: %v\n", where, d)
	}
}

// agreed says in one line that all results agree, how closely, and why that is close enough.
func (v *agreement) agreed(e *env, c *runCmd, name string, results int, with string) {
	if c.JSON || v.key == "" {
		return
	}
	rtol, atol := c.of(v.worst.shape.Type())
	why := ""
	if c.Rtol == nil && c.Atol == nil {
		why = ", for " + arrays.Reason(v.worst.shape.Type())
	}
	fmt.Fprintf(e.stderr, "%s: %s with %s: largest difference %.3g, relative %.3g, in result %s (tolerance %g absolute, %g relative%s)\n", name,
		count(results, "result agrees", "results agree"), with, v.worst.MaxAbs, v.worst.MaxRel, v.key, atol, rtol, why)
}

// compareWith reports how far the results of a snapshot's program are from the result that the snapshot carries.
func (c *runCmd) compareWith(e *env, name string, results, carried []*hlo.Literal, r *record) error {
	if len(results) != len(carried) {
		return fmt.Errorf("%s: error: the snapshot carries %s, and the program has %d", name, count(len(carried), "result", "results"), len(results))
	}
	var records []any
	var v agreement
	bad, worst := 0, 0.0
	for i, got := range results {
		want := carried[i]
		if !got.Shape().IsArray() {
			continue
		}
		if !got.Shape().Compatible(want.Shape()) {
			return fmt.Errorf("%s: error: result %d: the snapshot carries %v, and the program computes %v", name, i, want.Shape().WithoutLayout(), got.Shape().WithoutLayout())
		}
		diff := c.measure(got, want)
		if diff.Bad > 0 {
			worst = max(worst, diff.MaxAbs/magnitude(want))
			bad++
		}
		fields := diff.fields()
		fields["result"], fields["shape"] = i, got.Shape().WithoutLayout().String()
		records = append(records, fields)
		v.add(e, c, fmt.Sprintf("%s: result %d, %v, against the snapshot", name, i, got.Shape().WithoutLayout()), fmt.Sprint(i), diff)
	}
	r.add("compare", records)
	if bad > 0 {
		return fmt.Errorf("%s: error: %s from what the snapshot carries%s", name, differ(bad, len(results)), c.precisionHint(worst))
	}
	v.agreed(e, c, name, len(results), "the snapshot")
	return nil
}

// difference is how far a result is from its reference.
type difference struct {
	arrays.Difference
	ulps  arrays.Ulps
	shape hlo.Shape
}

func (t *tolerances) measure(got, want *hlo.Literal) difference {
	rtol, atol := t.of(got.Shape().Type())
	exactly, same := t.exactness(), got.Shape().Type() == want.Shape().Type()
	if !same {
		r, a := t.of(want.Shape().Type())
		rtol, atol = max(rtol, r), max(atol, a) // the coarser type's
	}
	if rtol == 0 && atol == 0 {
		exactly.ZeroSigns = true // the same bits were asked for
	}
	d := difference{Difference: arrays.CompareExactly(got, want, rtol, atol, exactly), shape: got.Shape()}
	if same {
		d.ulps = arrays.CountUlps(got, want)
	}
	return d
}

func (d difference) String() string {
	s := d.Difference.String()
	if d.Bad > 0 && d.FirstBad >= 0 && d.shape.Rank() > 1 {
		s += fmt.Sprintf(" at index %v", indexOf(d.shape, d.FirstBad))
	}
	if histogram := d.ulps.String(); histogram != "" {
		s += "\n    ulps apart: " + histogram
	}
	return s
}

// fields is the difference as a JSON object.
func (d difference) fields() map[string]any {
	f := map[string]any{"elements": d.Elements, "bad": d.Bad, "max_abs": d.MaxAbs, "max_rel": d.MaxRel}
	if ranges := d.ulps.Ranges(); ranges != nil {
		f["ulps"] = ranges
	}
	if d.ulps.NaN > 0 {
		f["nan"] = d.ulps.NaN
	}
	if d.ZeroSigns > 0 {
		f["zero_signs"] = d.ZeroSigns
	}
	if d.Bad > 0 && d.FirstBad >= 0 {
		f["first_bad"] = map[string]any{"index": indexOf(d.shape, d.FirstBad), "got": fmt.Sprint(arrays.Number(d.Got)), "want": fmt.Sprint(arrays.Number(d.Want))}
	}
	return f
}

// indexOf is the place of flat element i.
func indexOf(s hlo.Shape, i int) []int64 {
	index := make([]int64, s.Rank())
	for a := s.Rank() - 1; a >= 0; a-- {
		index[a] = int64(i) % s.Dim(a)
		i /= int(s.Dim(a))
	}
	return index
}

// tolerances say how far values may be apart.
type tolerances struct {
	Rtol *float64 `help:"Relative tolerance. Default, by element type: 1e-5 for f32, 1e-10 for f64, a unit in the last place for narrower floats, 0 for integers."`
	Atol *float64 `help:"Absolute tolerance. Default as of --rtol."`

	ZeroSigns        bool `name:"zero-signs" help:"Zeros of different sign differ."`
	NaNBits          bool `name:"nan-bits" help:"NaNs of different bits differ."`
	IgnoreInfinities bool `name:"ignore-infinities" help:"Elements of which either side is infinite are not compared."`
}

func (t *tolerances) exactness() arrays.Exactness {
	return arrays.Exactness{ZeroSigns: t.ZeroSigns, NaNBits: t.NaNBits, IgnoreInfinities: t.IgnoreInfinities}
}

func (t *tolerances) check() error {
	if t.Rtol != nil && !(*t.Rtol >= 0) || t.Atol != nil && !(*t.Atol >= 0) { // NaN is no tolerance
		return fmt.Errorf("--rtol, --atol: want a tolerance of at least 0")
	}
	return nil
}

// of is what the flags say, or else what suits the type.
func (t *tolerances) of(p hlo.PrimitiveType) (rtol, atol float64) {
	rtol = arrays.Tolerance(p)
	atol = rtol
	if t.Rtol != nil {
		rtol = *t.Rtol
	}
	if t.Atol != nil {
		atol = *t.Atol
	}
	return rtol, atol
}

// differ says how many of some results are not as they should be.
func differ(bad, of int) string {
	if of == 1 {
		return "the result differs"
	}
	return fmt.Sprintf("%d of %d results differ", bad, of)
}
