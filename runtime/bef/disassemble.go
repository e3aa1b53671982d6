package bef

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Disassemble lists a file as it is, record by record, for people who look for
// faults. It prints any File, a broken constant as its error. Text that can be
// assembled again is made by package hostprog.
func Disassemble(w io.Writer, f *File) error {
	out := bufio.NewWriter(w)
	l := lister{f: f, w: out}
	l.printf("bef G2 kernels=%d types=%d functions=%d attributes=%dB locations=%dB typed=%v\n",
		len(f.Kernels), len(f.Types), len(f.Functions), len(f.Attrs.Data), len(f.Locations.Records), f.Typed)
	for i := range f.Functions {
		l.function(i, &f.Functions[i])
	}
	for _, s := range f.Extensions {
		l.printf("section %v %dB align=%d\n", s.ID, len(s.Data), s.Align)
	}
	return out.Flush()
}

type lister struct {
	f *File
	w *bufio.Writer
}

func (l *lister) printf(format string, args ...any) { fmt.Fprintf(l.w, format, args...) }

func (l *lister) function(id int, fn *Function) {
	l.printf("\nfunction %d %q %v (%s) -> (%s)", id, fn.Name, fn.Kind, l.types(fn.Args), l.types(fn.Results))
	if fn.Kind == Native {
		l.printf("\n")
		return
	}
	l.printf(" loc=%v\n", l.f.Locations.At(fn.Loc))
	for r, reg := range fn.Registers {
		l.printf("  %%%d : %s uses=%d\n", r, l.typeName(reg.Type), reg.Uses)
	}
	l.printf("  entry -> %v args %v\n", fn.TriggerUsers, fn.ArgUsers)
	for i := range fn.Kernels {
		l.kernel(i, &fn.Kernels[i])
	}
	l.printf("  return %s\n", registers(fn.ResultRegs))
}

func (l *lister) kernel(i int, k *Kernel) {
	name := "?"
	if int(k.Code) < len(l.f.Kernels) {
		name = l.f.Kernels[k.Code]
	}
	l.printf("  [%d] %s = %q(%s) stream=%d", i, registers(k.Results), name, registers(k.Args), k.Stream)
	for _, a := range k.Attrs {
		l.printf(" %s@%d", a.Name, a.Offset)
		if a.Type != 0 {
			if v, err := l.f.Attrs.Value(a); err != nil {
				l.printf("=<%v>", err)
			} else {
				l.printf("=%s", valueText(v))
			}
		}
	}
	if len(k.Funcs) > 0 {
		l.printf(" funcs=%v", k.Funcs)
	}
	l.printf(" users=%v loc=%v\n", k.Users, l.f.Locations.At(k.Loc))
}

func (l *lister) typeName(t TypeID) string {
	if int(t) < len(l.f.Types) {
		return l.f.Types[t]
	}
	return "?"
}

func (l *lister) types(ids []TypeID) string {
	names := make([]string, len(ids))
	for i, t := range ids {
		names[i] = l.typeName(t)
	}
	return strings.Join(names, ", ")
}

func registers(regs []RegID) string {
	var b strings.Builder
	for i, r := range regs {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%%%d", r)
	}
	return b.String()
}

// valueText is short: long data are cut.
func valueText(v Value) string {
	const most = 32
	var b strings.Builder
	fmt.Fprintf(&b, "%v", v.Type)
	switch {
	case v.Type == AggregateType:
		fmt.Fprintf(&b, "[%d]", len(v.Elems))
	case v.Type == StringType:
		fmt.Fprintf(&b, "%.*q", most, v.Data)
	case v.Type == SymbolRefType:
		fmt.Fprintf(&b, "@%s", strings.Join(append([]string{v.Symbol.Root}, v.Symbol.Nested...), "::@"))
	case v.Type == ShapeType && v.Unranked:
		b.WriteString("*")
	case v.Type == ShapeType:
		fmt.Fprint(&b, v.Dims)
	default:
		if v.Type == DenseType {
			fmt.Fprintf(&b, "%v%v", v.Elem, v.Dims)
		}
		fmt.Fprintf(&b, ":%x", v.Data[:min(len(v.Data), most)])
		if len(v.Data) > most {
			b.WriteString("…")
		}
	}
	return b.String()
}
