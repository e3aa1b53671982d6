package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// smallBytes bounds what is a small movement: beyond, the work hides the way to it.
const smallBytes = 2048

// smallProgram is a tile program as small calls, and the scratch memory for its registers.
func smallProgram(p *tile.Program) ([]runtime.SmallCall, int64) {
	calls, registers, ok := p.Calls()
	if !ok {
		return nil, 0
	}
	return smallCalls(calls, 0), int64(registers)
}

// laterProgram is what a tile program is where it runs often: its machine code, if it may have any.
func laterProgram(p *tile.Program) func() runtime.LaterCalls {
	if !p.MayHaveCode() {
		return nil
	}
	return func() runtime.LaterCalls {
		calls, room, ok := p.CodeCalls()
		if !ok {
			return runtime.LaterCalls{}
		}
		later := runtime.LaterCalls{Calls: smallCalls(calls, 0), Room: room}
		inRoom(later.Calls)
		return later
	}
}

// inRoom has registers in the memory of later calls.
func inRoom(calls []runtime.SmallCall) {
	for i := range calls {
		c := &calls[i]
		for _, p := range [...]*runtime.Place{&c.D, &c.A, &c.B, &c.C} {
			if p.Kind == runtime.InScratch {
				p.Kind = runtime.InRoom
			}
			for k := range p.Table {
				if t := &p.Table[k]; t.Kind == runtime.InScratch {
					t.Kind = runtime.InRoom
				}
			}
		}
	}
}

// smallCalls are calls of a tile program whose registers begin at a place of the scratch memory.
func smallCalls(calls []tile.Call, registers int) []runtime.SmallCall {
	small := make([]runtime.SmallCall, len(calls))
	for i, c := range calls {
		small[i] = runtime.SmallCall{Loop: c.Loop, N: c.N, D: placeOf(&c.D, registers), A: placeOf(&c.A, registers), B: placeOf(&c.B, registers), C: placeOf(&c.C, registers)}
	}
	return small
}

func placeOf(p *tile.Place, registers int) runtime.Place {
	at := p.Offset
	if p.Kind == tile.InRegister {
		at += registers
	}
	kinds := [...]runtime.PlaceKind{tile.Nowhere: runtime.Nowhere, tile.InInput: runtime.InInput, tile.InOutput: runtime.InOutput,
		tile.InRegister: runtime.InScratch, tile.InConstant: runtime.InConst, tile.InTable: runtime.InTable}
	place := runtime.Place{Kind: kinds[p.Kind], Index: p.Index, Offset: at, Const: p.Value}
	for i := range p.Table {
		place.Table = append(place.Table, placeOf(&p.Table[i], registers))
	}
	return place
}

func smallInput(i int) runtime.Place { return runtime.Place{Kind: runtime.InInput, Index: i} }

// smallCopy copies input 0 to output 0.
func smallCopy(bytes int) []runtime.SmallCall {
	if bytes == 0 || bytes > smallBytes {
		return nil
	}
	return []runtime.SmallCall{{Loop: runtime.CopyLoop(bytes), N: bytes, D: runtime.Place{Kind: runtime.InOutput}, A: smallInput(0)}}
}

// smallBox copies a box of input i, from offsets in bytes on both sides.
func smallBox(b *box, to, i, from int) []runtime.SmallCall {
	if b.bytes() == 0 || b.bytes() > smallBytes {
		return nil
	}
	loop := b.loop()
	if loop == nil {
		return nil
	}
	x := smallInput(i)
	x.Offset = from
	return []runtime.SmallCall{{Loop: loop, N: b.run, D: runtime.Place{Kind: runtime.InOutput, Offset: to}, A: x}}
}

// loop copies the box, from its first element in a to that in d; nil for boxes that go back in memory.
func (b *box) loop() runtime.Loop {
	if len(b.dims) == 0 {
		return runtime.CopyLoop(b.run)
	}
	dst, src := b.run, b.run // how far it reaches
	for d, n := range b.dims {
		if b.dst[d] < 0 || b.src[d] < 0 {
			return nil
		}
		dst += (n - 1) * b.dst[d]
		src += (n - 1) * b.src[d]
	}
	return func(_ int, d, a, _, _ unsafe.Pointer) {
		b.copy(unsafe.Slice((*byte)(d), dst), unsafe.Slice((*byte)(a), src))
	}
}

// smallFill repeats the element that is input i in output 0.
func smallFill(bytes, width, i int) []runtime.SmallCall {
	if bytes == 0 || bytes > smallBytes {
		return nil
	}
	return []runtime.SmallCall{{Loop: func(n int, d, a, _, _ unsafe.Pointer) {
		fillBytes(unsafe.Slice((*byte)(d), n), unsafe.Slice((*byte)(a), width))
	}, N: bytes, D: runtime.Place{Kind: runtime.InOutput}, A: smallInput(i)}}
}

// start is the only index of a dynamic slice that moves its window, if it is of one of the usual types.
func (x *starts) start() (at runtime.Place, typ hlo.PrimitiveType, highest int64, stride int, ok bool) {
	for i, t := range x.types {
		if x.highest[i] == 0 {
			continue
		}
		if ok || t != hlo.S32 && t != hlo.S64 && t != hlo.U32 {
			return at, t, 0, 0, false
		}
		at = smallInput(x.first + i)
		if x.list {
			at = runtime.Place{Kind: runtime.InInput, Index: x.first, Offset: i * t.ByteSize()}
		}
		typ, highest, stride, ok = t, x.highest[i], x.strides[i], true
	}
	return at, typ, highest, stride, ok
}

// isSmall reports whether a box is a few bytes: together, or a row of runs, as a column of a matrix is.
func (b *box) isSmall() bool { return len(b.dims) <= 1 && b.bytes() > 0 && b.bytes() <= smallBytes }

// together is how many bytes a box is, if they lie together, else 0.
func (b *box) together() int {
	if len(b.dims) > 0 {
		return 0
	}
	return b.run
}

// smallSlice is a dynamic-slice with one moving index of a small window.
func smallSlice(x *starts, b *box) []runtime.SmallCall {
	at, typ, highest, stride, ok := x.start()
	if !ok || !b.isSmall() {
		return nil
	}
	var loop runtime.Loop
	switch step := stride * b.width; typ {
	case hlo.S32:
		loop = sliceLoop[int32](b, highest, step)
	case hlo.U32:
		loop = sliceLoop[uint32](b, highest, step)
	case hlo.S64:
		loop = sliceLoop[int64](b, highest, step)
	}
	return []runtime.SmallCall{{Loop: loop, N: b.run, D: runtime.Place{Kind: runtime.InOutput}, A: smallInput(0), B: at}}
}

// sliceLoop copies a box to d from a, at the index in b.
func sliceLoop[I int32 | uint32 | int64](b *box, highest int64, step int) runtime.Loop {
	switch b.together() { // the usual sizes are one move
	case 4:
		return sliceOne[I, [4]byte](highest, step)
	case 8:
		return sliceOne[I, [8]byte](highest, step)
	case 12:
		return sliceOne[I, [12]byte](highest, step)
	case 16:
		return sliceOne[I, [16]byte](highest, step)
	}
	move := b.loop()
	return func(n int, d, a, b, _ unsafe.Pointer) {
		move(n, d, unsafe.Add(a, clampIndex(*(*I)(b), highest)*step), nil, nil)
	}
}

func sliceOne[I int32 | uint32 | int64, T any](highest int64, step int) runtime.Loop {
	return func(_ int, d, a, b, _ unsafe.Pointer) {
		*(*T)(d) = *(*T)(unsafe.Add(a, clampIndex(*(*I)(b), highest)*step))
	}
}

// smallUpdate is a dynamic-update-slice with one moving index of a small window. The array is copied if it is not updated
// in place.
func smallUpdate(x *starts, b *box, bytes int) []runtime.SmallCall {
	at, typ, highest, stride, ok := x.start()
	if !ok || !b.isSmall() {
		return nil
	}
	var loop runtime.Loop
	switch step := stride * b.width; typ {
	case hlo.S32:
		loop = updateLoop[int32](b, highest, step, bytes)
	case hlo.U32:
		loop = updateLoop[uint32](b, highest, step, bytes)
	case hlo.S64:
		loop = updateLoop[int64](b, highest, step, bytes)
	}
	return []runtime.SmallCall{{Loop: loop, N: b.run, D: runtime.Place{Kind: runtime.InOutput}, A: smallInput(0), B: smallInput(1), C: at}}
}

// updateLoop copies a box from b over an array like a in d, at the index in c.
func updateLoop[I int32 | uint32 | int64](b *box, highest int64, step, bytes int) runtime.Loop {
	switch b.together() {
	case 4:
		return updateOne[I, [4]byte](highest, step, bytes)
	case 8:
		return updateOne[I, [8]byte](highest, step, bytes)
	case 12:
		return updateOne[I, [12]byte](highest, step, bytes)
	case 16:
		return updateOne[I, [16]byte](highest, step, bytes)
	}
	move := b.loop()
	return func(n int, d, a, b, c unsafe.Pointer) {
		if d != a {
			copy(unsafe.Slice((*byte)(d), bytes), unsafe.Slice((*byte)(a), bytes))
		}
		move(n, unsafe.Add(d, clampIndex(*(*I)(c), highest)*step), b, nil, nil)
	}
}

func updateOne[I int32 | uint32 | int64, T any](highest int64, step, bytes int) runtime.Loop {
	return func(_ int, d, a, b, c unsafe.Pointer) {
		if d != a {
			copy(unsafe.Slice((*byte)(d), bytes), unsafe.Slice((*byte)(a), bytes))
		}
		*(*T)(unsafe.Add(d, clampIndex(*(*I)(c), highest)*step)) = *(*T)(b)
	}
}

func clampIndex[I int32 | uint32 | int64](i I, highest int64) int {
	return int(max(0, min(int64(i), highest)))
}
