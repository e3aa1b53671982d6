package lower

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// emit writes the function into the file and its plan beside it.
func (f *function) emit() {
	b := f.l.b
	var text []byte
	appendTypes := func(t []bef.TypeID, ids []valueID) []bef.TypeID {
		for _, v := range ids {
			text = f.values[v].shape.AppendText(text[:0], false)
			t = append(t, b.TypeOf(text))
		}
		return t
	}
	fb := b.Function(f.name(), bef.Async, appendTypes(nil, f.args), appendTypes(nil, f.roots))
	fb.SetLocation(bef.Named(f.comp.Name()))
	fb.Grow(len(f.ops), len(f.values)-len(f.args))
	f.id = fb.ID()

	regs := make([]bef.RegID, len(f.values))
	f.plan = runtime.FunctionPlan{Func: int(f.id), FrameBytes: f.frameBytes, Registers: make([]runtime.Register, 0, len(f.values))}
	register := func(v valueID, r bef.RegID) {
		regs[v] = r
		f.plan.Registers = append(f.plan.Registers, f.register(v))
	}
	for i, a := range f.args {
		register(a, fb.Arg(i))
	}
	var spec bef.KernelSpec
	attrs := make([]bef.NamedValue, 1)
	for k := range f.ops {
		o := &f.ops[k]
		spec = bef.KernelSpec{Name: o.kernel, Results: appendTypes(spec.Results[:0], o.results), Loc: o.loc, Args: spec.Args[:0], Funcs: spec.Funcs[:0]}
		for _, a := range o.args {
			spec.Args = append(spec.Args, regs[a])
		}
		if !o.in.IsZero() {
			b.Type("i64") // numbers bring their types
			attrs[0] = bef.NamedValue{Name: "hlo", Value: bef.Int64(f.l.program.ID(o.in))}
			spec.Attrs = attrs
		}
		for _, c := range o.callees {
			spec.Funcs = append(spec.Funcs, c.id)
		}
		for i, r := range fb.Kernel(spec) {
			register(o.results[i], r)
		}
		if o.control != nil {
			o.control.Kernel = k
			f.plan.Controls = append(f.plan.Controls, *o.control)
		}
	}
	// Outputs of chains are registers of kernels after the start: fill them in now that all are numbered.
	n := 0
	for k := range f.ops {
		o := &f.ops[k]
		if o.control == nil {
			continue
		}
		if o.chain != nil {
			for _, v := range o.chain.outputs {
				f.plan.Controls[n].Outputs = append(f.plan.Controls[n].Outputs, int(regs[v]))
			}
		}
		n++
	}
	f.plan.Segments = f.segments.plan()
	var results []bef.RegID
	for _, r := range f.roots {
		results = append(results, regs[r])
	}
	fb.Return(results...)
}

// name is the computation's, with the convention where two versions may exist.
func (f *function) name() string {
	if f.conv == loopBody {
		return f.comp.Name() + ".inplace"
	}
	return f.comp.Name()
}

func (f *function) register(v valueID) runtime.Register {
	val := &f.values[v]
	s := val.shape.InMemory()
	r := runtime.Register{Type: uint8(s.Type()), Dims: s.Dimensions(), Bytes: s.ByteSize()}
	if st := &f.stores[val.store]; st.bytes > 0 {
		r.Slot = st.slot
	}
	return r
}
