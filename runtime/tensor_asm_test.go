package runtime_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// Tensor functions in text, for tests. A line is a function header, a kernel or a return:
//
//	func body frame=128
//	  x:i32[4] = arg
//	  k:i32[4]@const(0) = hlo.constant
//	  t:i32[4]@arena(64) = toy.add x k
//	  e:tok = hlo.async-start t calls=g@128 thread=side outputs=r
//	  r:i32[4]@out(0) = hlo.async-done e
//	  return r
//
// Values are typed where they are defined. Options of control kernels follow their operands. A line "const 1 2 3" puts
// three numbers at the next aligned offset of the constants.
type tensorAsm struct {
	builder *bef.Builder
	funcs   map[string]*asmFunc
	order   []*asmFunc
	consts  []byte
}

type asmFunc struct {
	name    string
	lines   []string
	frame   int64
	fb      *bef.FuncBuilder
	regs    map[string]int
	plan    runtime.FunctionPlan
	kernels int
}

const (
	typeI32  = 4
	typePred = 1
	typeTok  = 17
)

func assemble(text string) (*bef.File, error) {
	a := &tensorAsm{builder: bef.NewBuilder(), funcs: map[string]*asmFunc{}}
	var cur *asmFunc
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "const":
			for len(a.consts)%runtime.ConstantAlign != 0 {
				a.consts = append(a.consts, 0)
			}
			for _, f := range fields[1:] {
				n, err := strconv.Atoi(f)
				if err != nil {
					return nil, err
				}
				a.consts = binary.NativeEndian.AppendUint32(a.consts, uint32(n))
			}
		case fields[0] == "func":
			cur = &asmFunc{name: fields[1], regs: map[string]int{}}
			for _, f := range fields[2:] {
				n, err := strconv.ParseInt(strings.TrimPrefix(f, "frame="), 10, 64)
				if err != nil {
					return nil, err
				}
				cur.frame = n
			}
			a.funcs[cur.name] = cur
			a.order = append(a.order, cur)
		default:
			cur.lines = append(cur.lines, line)
		}
	}
	plan := runtime.BufferPlan{}
	for i, f := range a.order {
		if err := a.declare(f); err != nil {
			return nil, fmt.Errorf("func %s: %w", f.name, err)
		}
		f.plan.Func, f.plan.FrameBytes = i, f.frame
	}
	for _, f := range a.order {
		for _, line := range f.lines {
			if err := a.line(f, line); err != nil {
				return nil, fmt.Errorf("func %s: %q: %w", f.name, line, err)
			}
		}
		plan.Functions = append(plan.Functions, f.plan)
	}
	a.builder.Extensions = []bef.Section{
		{ID: runtime.SectionBufferPlan, Data: plan.Encode()},
		{ID: runtime.SectionConstants, Align: runtime.ConstantAlign, Data: a.consts},
	}
	return a.builder.File()
}

// declare adds the function with the types of its arguments and results.
func (a *tensorAsm) declare(f *asmFunc) error {
	var args, results []bef.TypeID
	t := a.builder.Type("buffer")
	for _, line := range f.lines {
		fields := strings.Fields(line)
		switch {
		case fields[0] == "return":
			for range fields[1:] {
				results = append(results, t)
			}
		case len(fields) == 3 && fields[2] == "arg":
			args = append(args, t)
		}
	}
	f.fb = a.builder.Function(f.name, bef.Async, args, results)
	return nil
}

func (a *tensorAsm) line(f *asmFunc, line string) error {
	fields := strings.Fields(line)
	if fields[0] == "return" {
		regs, err := f.registers(fields[1:])
		f.fb.Return(regs...)
		return err
	}
	outs := []runtime.Register{}
	names := []string{}
	for fields[0] != "=" {
		name, reg, err := parseRegister(fields[0])
		if err != nil {
			return err
		}
		names, outs = append(names, name), append(outs, reg)
		fields = fields[1:]
	}
	kernel := fields[1]
	if kernel == "arg" {
		i := len(f.plan.Registers)
		if outs[0].Bytes > 0 {
			outs[0].Slot = runtime.ArgSlot(i)
		}
		f.regs[names[0]] = i
		f.plan.Registers = append(f.plan.Registers, outs[0])
		return nil
	}
	spec := bef.KernelSpec{Name: kernel, Loc: bef.Named(f.name + "." + kernel)}
	control := runtime.Control{Kernel: len(f.plan.Controls), TripCount: runtime.UnknownTripCount}
	isControl := false
	var outputs []string
	for _, field := range fields[2:] {
		key, value, option := strings.Cut(field, "=")
		if !option && field != "detached" {
			regs, err := f.registers([]string{field})
			if err != nil {
				return err
			}
			spec.Args = append(spec.Args, regs...)
			continue
		}
		isControl = isControl || key != "text"
		for _, item := range strings.Split(value, ",") {
			var err error
			switch key {
			case "text":
				spec.Attrs = append(spec.Attrs, bef.NamedValue{Name: "hlo", Value: bef.String(item)})
			case "calls":
				name, offset, _ := strings.Cut(item, "@")
				callee := a.funcs[name]
				if callee == nil {
					return fmt.Errorf("no function %s", name)
				}
				off := int64(0)
				if offset != "" {
					off, err = strconv.ParseInt(offset, 10, 64)
				}
				spec.Funcs = append(spec.Funcs, callee.fb.ID())
				control.Frames = append(control.Frames, off)
			case "trips":
				control.TripCount, err = strconv.ParseInt(item, 10, 64)
			case "thread":
				control.Thread = item
			case "counts":
				var n int
				n, err = strconv.Atoi(item)
				control.Counts = append(control.Counts, n)
			case "outputs":
				outputs = append(outputs, item)
			case "detached":
				control.Detached = true
			default:
				err = fmt.Errorf("unknown option %s", key)
			}
			if err != nil {
				return err
			}
		}
	}
	for i, name := range names {
		f.regs[name] = len(f.plan.Registers)
		f.plan.Registers = append(f.plan.Registers, outs[i])
		spec.Results = append(spec.Results, a.builder.Type("buffer"))
	}
	// Outputs name registers that come later: give them their numbers by counting the definitions in the text.
	for _, o := range outputs {
		i, err := f.definition(o)
		if err != nil {
			return err
		}
		control.Outputs = append(control.Outputs, i)
	}
	if isControl {
		control.Kernel = f.kernels
		f.plan.Controls = append(f.plan.Controls, control)
	}
	f.kernels++
	f.fb.Kernel(spec)
	return nil
}

func parseRegister(s string) (string, runtime.Register, error) {
	name, rest, _ := strings.Cut(s, ":")
	typ, slot, _ := strings.Cut(rest, "@")
	var r runtime.Register
	elem, dims, isArray := strings.Cut(strings.TrimSuffix(typ, "]"), "[")
	size := int64(0)
	switch elem {
	case "i32":
		r.Type, size = typeI32, 4
	case "pred":
		r.Type, size = typePred, 1
	case "tok":
		r.Type = typeTok
	default:
		return "", r, fmt.Errorf("unknown type %q", typ)
	}
	if isArray && dims != "" {
		for _, d := range strings.Split(dims, ",") {
			n, err := strconv.ParseInt(d, 10, 64)
			if err != nil {
				return "", r, err
			}
			r.Dims = append(r.Dims, n)
			size *= n
		}
	}
	r.Bytes = size
	kind, index, _ := strings.Cut(strings.TrimSuffix(slot, ")"), "(")
	n, _ := strconv.ParseInt(index, 10, 64)
	switch kind {
	case "arg":
		r.Slot = runtime.ArgSlot(int(n))
	case "out":
		r.Slot = runtime.OutSlot(int(n))
	case "arena":
		r.Slot = runtime.ArenaSlot(n)
	case "const":
		r.Slot = runtime.ConstSlot(n)
	}
	return name, r, nil
}

func (f *asmFunc) registers(names []string) ([]bef.RegID, error) {
	var regs []bef.RegID
	for _, n := range names {
		r, ok := f.regs[n]
		if !ok {
			return nil, fmt.Errorf("no value %q", n)
		}
		regs = append(regs, bef.RegID(r))
	}
	return regs, nil
}

// definition returns the register number that a name gets, counting definitions in the text.
func (f *asmFunc) definition(name string) (int, error) {
	n := 0
	for _, line := range f.lines {
		for _, field := range strings.Fields(line) {
			if field == "=" || field == "return" {
				break
			}
			if v, _, _ := strings.Cut(field, ":"); v == name {
				return n, nil
			}
			n++
		}
	}
	return 0, fmt.Errorf("no value %q", name)
}
