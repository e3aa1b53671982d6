package tile

import (
	"strings"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// readInPlace lets steps of arithmetic read bf16 as it is in memory, and write it there, so that it is decoded and encoded in registers.
func (b *Builder) readInPlace(p *Program) {
	uses := make([]int, len(b.values))
	for _, s := range b.steps {
		for _, a := range s.args {
			uses[a]++
		}
	}
	for _, s := range b.stores {
		uses[s.reg]++
	}
	for _, f := range b.folds {
		uses[f.reg]++
	}
	if b.result != noValue {
		uses[b.result]++
	}
	loads := make(map[Value]*load)
	for i := range p.loads {
		if l := &p.loads[i]; l.mode == linear && l.typ == hlo.BF16 {
			loads[Value(l.reg)] = l
		}
	}
	for i := range b.steps {
		s := &b.steps[i]
		if s.op == "" || len(s.args) != 2 {
			continue
		}
		x, y := s.args[0], s.args[1]
		once := 1
		if x == y {
			once = 2
		}
		form := func(v Value) string {
			if loads[v] != nil && uses[v] == once {
				return "bf16"
			}
			return "f32"
		}
		f := [3]string{form(x), form(y), "f32"}
		if s.rounded {
			f[2] = "round"
		}
		last := i == len(b.steps)-1 && len(b.stores) == 1 && b.stores[0].reg == int(s.d) && b.stores[0].typ == hlo.BF16 && uses[s.d] == 1 && b.values[s.d].def == i
		if last {
			f[2] = "bf16"
		}
		exchange := f[0] == "f32" && f[1] == "bf16" && (s.op == "add" || s.op == "multiply")
		if exchange {
			f[0], f[1] = f[1], f[0]
		}
		fn := mixedLoop(s.op, f)
		if fn == nil {
			continue
		}
		if exchange {
			fn = swapped(fn)
			f[0], f[1] = f[1], f[0]
		}
		p.steps[i].run = fn
		for k, v := range s.args {
			if f[k] == "bf16" {
				loads[v].raw = true
			}
		}
		if last {
			p.stores[0].inPlace = true
		}
	}
}

// mixedLoop is the loop for operands and a result in these forms, or nil.
func mixedLoop(op string, f [3]string) loop {
	name := strings.Join(append([]string{op}, f[:]...), ".")
	compute := map[string]func(x, y float32) float32{
		"add": func(x, y float32) float32 { return x + y }, "subtract": func(x, y float32) float32 { return x - y },
		"multiply": func(x, y float32) float32 { return x * y }, "divide": func(x, y float32) float32 { return x / y },
	}[op]
	if !vectors.Has(name) || compute == nil {
		return nil
	}
	number := func(form string, p unsafe.Pointer, i int) float32 {
		if form == "bf16" {
			return minifloat.BF16ToFloat32(*(*uint16)(unsafe.Add(p, 2*i)))
		}
		return *(*float32)(unsafe.Add(p, 4*i))
	}
	return vectors.Find(name, func(n int, d, a, b, _ unsafe.Pointer) { // for the rest of a tile
		for i := range n {
			r := compute(number(f[0], a, i), number(f[1], b, i))
			switch f[2] {
			case "bf16":
				*(*uint16)(unsafe.Add(d, 2*i)) = minifloat.BF16FromFloat32(r)
			case "round":
				*(*float32)(unsafe.Add(d, 4*i)) = minifloat.BF16ToFloat32(minifloat.BF16FromFloat32(r))
			default:
				*(*float32)(unsafe.Add(d, 4*i)) = r
			}
		}
	})
}
