package memplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/runtime"
)

// Saving is a change of the program and the memory that it saves. The numbers are of plans that were made anew with the change, not estimates.
type Saving struct {
	// Change names it for [Apply]: order, recompute=NAME, narrow=NAME, donate=PARAMETER:RESULT.
	Change string `json:"change"`
	Text   string `json:"text"`
	Before int64  `json:"before_bytes"` // what an execution needs: see Report.Total
	After  int64  `json:"after_bytes"`
}

// Bytes is what the change saves.
func (s *Saving) Bytes() int64 { return s.Before - s.After }

// mostCandidates bounds the values of which it is tried to keep less.
const mostCandidates = 6

// FindSavings plans the program with changes and adds to the report those that save something.
func (r *Report) FindSavings(ctx context.Context, m hlo.Module) error {
	frame, err := frameOf(ctx, m)
	if err != nil {
		return err
	}
	rest := r.Total - align(frame)
	try := func(change, text string, changed hlo.Module, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil // it cannot be done here
		}
		after, err := frameOf(ctx, changed)
		if err != nil {
			return nil
		}
		if s := (Saving{change, text, r.Total, rest + align(after)}); s.Bytes() > 0 {
			r.Savings = append(r.Savings, s)
		}
		return nil
	}
	changed, err := reordered(ctx, m)
	if err := try("order", "run the instructions in another order, that frees values earlier", changed, err); err != nil {
		return err
	}
	for _, b := range r.kept(m) {
		in, _ := m.Entry().ByName(b.Name)
		if cheap(in) {
			changed, err := recomputed(m, in, r.after(m))
			if err := try("recompute="+b.Name, fmt.Sprintf("compute %s again for those who read it after the peak, instead of keeping %s", b.Name, size(b.Bytes)), changed, err); err != nil {
				return err
			}
		}
		if in.Shape().IsArray() && in.Shape().Type() == hlo.F32 {
			changed, err := narrowed(m, in, r.after(m))
			if err := try("narrow="+b.Name, fmt.Sprintf("keep %s as bf16 over the peak: %s now", b.Name, size(b.Bytes)), changed, err); err != nil {
				return err
			}
		}
	}
	r.donations(m)
	slices.SortStableFunc(r.Savings, func(a, b Saving) int { return cmp.Compare(b.Bytes(), a.Bytes()) })
	return nil
}

// frameOf is the size of the entry's frame when a module is lowered.
func frameOf(ctx context.Context, m hlo.Module) (int64, error) {
	file, err := lower.Module(ctx, m)
	if err != nil {
		return 0, err
	}
	plan, err := runtime.DecodeBufferPlan(file.Extension(runtime.SectionBufferPlan))
	if err != nil {
		return 0, err
	}
	return plan.Functions[len(plan.Functions)-1].FrameBytes, nil // callees come first
}

// kept lists the largest values of the entry that are kept over the peak.
func (r *Report) kept(m hlo.Module) []*Buffer {
	var list []*Buffer
	for i := range r.Buffers {
		b := &r.Buffers[i]
		if b.AtPeak && b.Computation == m.Entry().Name() && b.First < r.PeakAt.Index && b.Last > r.PeakAt.Index {
			list = append(list, b)
		}
	}
	slices.SortStableFunc(list, func(a, b *Buffer) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return list[:min(len(list), mostCandidates)]
}

// after is the set of instructions of the entry that run after the peak.
func (r *Report) after(m hlo.Module) map[string]bool {
	set := map[string]bool{}
	for _, s := range r.Steps[r.PeakAt.Index:] {
		if s.Computation == m.Entry().Name() && s.Name != r.PeakAt.Name {
			set[s.Name] = true
		}
	}
	return set
}

// cheap reports whether computing an instruction again takes little: it works element by element, or moves elements.
func cheap(in hlo.Instruction) bool {
	const traits = hlo.TraitElementwise | hlo.TraitMovesData
	return !in.IsZero() && (hlo.Info(in.Opcode()).Traits&traits != 0 || in.Opcode() == hlo.OpIota || in.Opcode() == hlo.OpFusion) && in.NumControlPredecessors() == 0
}

// recomputed lets each user of in that is late read a copy of in that is computed for it.
func recomputed(m hlo.Module, in hlo.Instruction, late map[string]bool) (hlo.Module, error) {
	return replaceLate(m, in, late, func(c hlo.CompEdit) (at hlo.InstrID, kept []hlo.InstrID) {
		return c.AddSpec(control.Copy(c.Editor(), in, nil)).ID(), nil
	})
}

// narrowed lets the late users of in read what was kept of it in half as many bits.
func narrowed(m hlo.Module, in hlo.Instruction, late map[string]bool) (hlo.Module, error) {
	half, err := retyped(in.Shape(), hlo.BF16)
	if err != nil {
		return m, err
	}
	narrow := hlo.NoInstr
	return replaceLate(m, in, late, func(c hlo.CompEdit) (at hlo.InstrID, kept []hlo.InstrID) {
		if narrow == hlo.NoInstr {
			narrow = c.Add(hlo.OpConvert, half, in.ID()).ID()
			kept = []hlo.InstrID{narrow}
		}
		return c.Add(hlo.OpConvert, in.Shape(), narrow).ID(), kept
	})
}

func retyped(s hlo.Shape, t hlo.PrimitiveType) (hlo.Shape, error) {
	if !s.IsStatic() {
		return s, fmt.Errorf("%v is dynamic", s)
	}
	layout, _ := s.Layout()
	return hlo.MakeArray(t, s.Dimensions(), nil, layout), nil
}

// replaceLate replaces in for each of its late users by what stand makes: an instruction for that user, and others that come right after in. In a schedule
// the former stands right before the user.
func replaceLate(m hlo.Module, in hlo.Instruction, late map[string]bool, stand func(hlo.CompEdit) (at hlo.InstrID, kept []hlo.InstrID)) (hlo.Module, error) {
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	before, after := map[hlo.InstrID]hlo.InstrID{}, []hlo.InstrID(nil)
	for user := range in.Users() {
		if !late[user.Name()] {
			continue
		}
		at, kept := stand(c)
		for i := range user.NumOperands() {
			if user.Operand(i) == in.ID() {
				c.Instr(user.ID()).SetOperand(i, at)
			}
		}
		before[user.ID()] = at
		after = append(after, kept...)
	}
	if len(before) == 0 {
		return m, fmt.Errorf("nothing reads %s after the peak", in.Name())
	}
	if m.Entry().IsScheduled() {
		var order []hlo.InstrID
		for x := range m.Entry().Instructions() {
			if at, ok := before[x.ID()]; ok {
				order = append(order, at)
			}
			order = append(order, x.ID())
			if x.ID() == in.ID() {
				order = append(order, after...)
			}
		}
		if err := c.SetSchedule(order); err != nil {
			return m, err
		}
	}
	return e.Freeze(), nil
}

// donations adds the results that could be written over a parameter: of the same size, and read for the last time before the result is begun.
func (r *Report) donations(m hlo.Module) {
	var args, results []*Buffer
	for i := range r.Buffers {
		switch b := &r.Buffers[i]; b.Kind {
		case Argument:
			args = append(args, b)
		case Result:
			results = append(results, b)
		}
	}
	taken := map[string]bool{}
	for _, a := range m.Config().InputOutputAlias {
		if p := m.Entry(); int(a.Parameter) < p.NumParameters() {
			taken[p.Parameter(int(a.Parameter)).Name()] = true
		}
	}
	for _, out := range results {
		for _, in := range args {
			if taken[in.Name] || !inPlace(m, in, out) {
				continue
			}
			taken[in.Name] = true
			r.Savings = append(r.Savings, Saving{Change: fmt.Sprintf("donate=%s:%s", in.Name, out.Name), Before: r.Total, After: r.Total - in.Bytes,
				Text: fmt.Sprintf("donate parameter %s: nothing reads it any more when %s is written, so that can have its memory (input_output_alias)", in.Name, out.Name)})
			break
		}
	}
}

// mayShare reports whether an instruction of the entry may write where its operand is.
func mayShare(m hlo.Module, result, operand string) bool {
	in, ok := m.Entry().ByName(result)
	if !ok {
		return false
	}
	for _, s := range analysis.Shareable(m, in) {
		leaf := s.Operand
		for o := range in.Operands() {
			if n := o.Shape().NumLeaves(); leaf >= n {
				leaf -= n
				continue
			}
			if o.Name() == operand {
				return true
			}
			break
		}
	}
	return false
}

// Apply makes changes, as [Saving.Change] names them, to the module that the report is about.
func (r *Report) Apply(ctx context.Context, m hlo.Module, changes []string) (hlo.Module, error) {
	late := r.after(m)
	for _, change := range changes {
		kind, what, _ := strings.Cut(change, "=")
		in, known := m.Entry().ByName(what)
		var err error
		switch kind {
		case "order":
			m, err = reordered(ctx, m)
		case "donate":
			m, err = donated(m, what)
		case "recompute", "narrow":
			switch {
			case !known:
				err = fmt.Errorf("the entry computation has no instruction %q", what)
			case kind == "recompute":
				m, err = recomputed(m, in, late)
			default:
				m, err = narrowed(m, in, late)
			}
		default:
			err = errors.New("want order, recompute=NAME, narrow=NAME or donate=PARAMETER:RESULT")
		}
		if err != nil {
			return m, fmt.Errorf("%s: %w", change, err)
		}
	}
	return m, nil
}

// inPlace reports whether a result can be written over an argument.
func inPlace(m hlo.Module, in, out *Buffer) bool {
	if in.Shape != out.Shape || in.Last > out.First || in.Bytes == 0 {
		return false
	}
	return in.Last < out.First || in.Name == out.Name || mayShare(m, out.Name, in.Name)
}

// takeDonated leaves the results out of the total that the header lets the caller have in the memory of an argument. Where the argument is read
// after the result is there, the plan has the result in the arena until then.
func (r *Report) takeDonated(m hlo.Module) {
	root := m.Entry().Root()
	for _, a := range m.Config().InputOutputAlias {
		if len(a.ParameterIndex) > 0 || int(a.Parameter) >= m.Entry().NumParameters() {
			continue
		}
		out := root
		if len(a.Output) == 1 && root.Opcode() == hlo.OpTuple && int(a.Output[0]) < root.NumOperands() {
			out = root.OperandInstr(int(a.Output[0]))
		}
		from := r.find(Argument, m.Entry().Parameter(int(a.Parameter)).Name())
		to := r.find(Result, out.Name())
		if from != nil && to != nil && from.Bytes == to.Bytes {
			r.Donated += from.Bytes
			r.Total -= from.Bytes
		}
	}
}

func (r *Report) find(kind, name string) *Buffer {
	for i := range r.Buffers {
		if b := &r.Buffers[i]; b.Kind == kind && b.Name == name {
			return b
		}
	}
	return nil
}

// donated adds an alias of a parameter and a result to the header.
func donated(m hlo.Module, what string) (hlo.Module, error) {
	param, result, _ := strings.Cut(what, ":")
	entry := m.Entry()
	for i := range entry.NumParameters() {
		if entry.Parameter(i).Name() != param {
			continue
		}
		alias := hlo.Alias{Parameter: int64(i)}
		root := entry.Root()
		if root.Name() != result {
			k := slices.IndexFunc(slices.Collect(root.Operands()), func(o hlo.Instruction) bool { return o.Name() == result })
			if k < 0 || root.Opcode() != hlo.OpTuple {
				return m, fmt.Errorf("%s is no result", result)
			}
			alias.Output = hlo.ShapeIndex{int64(k)}
		}
		e, cfg := m.Edit(), *m.Config()
		cfg.InputOutputAlias = append(slices.Clone(cfg.InputOutputAlias), alias)
		e.SetConfig(&cfg)
		return e.Freeze(), nil
	}
	return m, fmt.Errorf("there is no parameter %s", param)
}

// size is a number of bytes in the unit that suits it.
func size(n int64) string {
	x := float64(n)
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if x < 1024 {
			if unit == "B" {
				return strconv.FormatInt(n, 10) + " B"
			}
			return fmt.Sprintf("%.1f %s", x, unit)
		}
		x /= 1024
	}
	return fmt.Sprintf("%.1f TiB", x)
}
