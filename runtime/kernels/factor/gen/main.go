// Command gen writes the loops that rotate neighbouring rows of a matrix, and those that solve a block of a triangular system, and those that reflect three rows:
// gen_rotate_amd64.s, gen_block_amd64.s, gen_reflect_amd64.s and their declarations. Run it by go generate in the directory above.
package main

import (
	"fmt"
	"maps"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gohalo/halo/internal/asmgen"
)

func main() { asmgen.Write(generate) }

// generate returns the assembly and the Go files that declare its functions.
func generate() (asmgen.Files, error) {
	files, err := rotations()
	if err != nil {
		return nil, err
	}
	for _, more := range []func() (asmgen.Files, error){blocks, reflections} {
		written, err := more()
		if err != nil {
			return nil, err
		}
		maps.Copy(files, written)
	}
	return files, nil
}

func rotations() (asmgen.Files, error) {
	ctx := build.NewContext()
	ctx.ConstraintExpr("amd64")
	for _, size := range []int{4, 8} {
		for _, width := range []int{64, 32} {
			for _, columns := range []int{4, 1} {
				(&rotation{ctx, size, width, columns}).build()
			}
		}
	}
	return asmgen.Compile(ctx, "runtime/kernels/factor", "rotate")
}

// Bits of MXCSR.
const (
	flushToZero      = 1 << 15
	denormalsAreZero = 1 << 6
)

// rotation is the loop for one element size and vector width, on so many vectors of each row.
type rotation struct {
	*build.Context
	size, width, columns int
}

// build emits a function that goes down the rows with the rotated row in registers: each rotation reads the next row and writes one.
func (r *rotation) build() {
	level := map[int]string{64: "AVX512", 32: "AVX2"}[r.width]
	r.Function(fmt.Sprintf("rotate%dF%d%s", r.columns, 8*r.size, level))
	r.Attributes(attr.NOSPLIT)
	element := fmt.Sprintf("float%d", 8*r.size)
	r.SignatureExpr(fmt.Sprintf("func(n int, cs, rows *%s, stride int)", element))
	r.Doc(fmt.Sprintf("%s applies n > 0 rotations to %d elements of n+1 rows, stride apart.", r.name(level), r.columns*r.width/r.size))
	r.Pragma("noescape")
	n, cs := r.Load(r.Param("n"), r.GP64()), r.Load(r.Param("cs"), r.GP64())
	row, stride := r.Load(r.Param("rows"), r.GP64()), r.Load(r.Param("stride"), r.GP64())
	r.SHLQ(operand.U8(uint8(bits.TrailingZeros(uint(r.size)))), stride)
	// Products of many sines are too small to matter, and slow.
	before, flush := r.AllocLocal(8), r.AllocLocal(8)
	r.STMXCSR(before)
	mode := r.GP32()
	r.MOVL(before, mode)
	r.ORL(operand.U32(flushToZero|denormalsAreZero), mode)
	r.MOVL(mode, flush)
	r.LDMXCSR(flush)
	var x []reg.VecVirtual
	for j := range r.columns {
		x = append(x, r.register())
		r.move(r.at(row, j), x[j])
	}
	r.Label("loop")
	c, s := r.register(), r.register()
	r.broadcast(operand.Mem{Base: cs}, c)
	r.broadcast(operand.Mem{Base: cs, Disp: r.size}, s)
	next := r.GP64()
	r.LEAQ(operand.Mem{Base: row, Index: stride, Scale: 1}, next)
	for j := range x {
		y, up, down := r.register(), r.register(), r.register()
		r.move(r.at(next, j), y)
		r.multiply(y, s, up)
		r.multiply(y, c, down)
		r.multiplyAdd(x[j], c, up)
		r.multiplySubtract(x[j], s, down)
		r.move(up, r.at(row, j))
		r.copy(down, x[j])
	}
	r.MOVQ(next, row)
	r.ADDQ(operand.I32(int32(2*r.size)), cs)
	r.DECQ(n)
	r.JNZ(operand.LabelRef("loop"))
	for j := range x {
		r.move(x[j], r.at(row, j))
	}
	r.LDMXCSR(before)
	r.VZEROUPPER()
	r.RET()
}

func (r *rotation) name(level string) string {
	return fmt.Sprintf("rotate%dF%d%s", r.columns, 8*r.size, level)
}

func (r *rotation) at(row reg.Register, column int) operand.Mem {
	return operand.Mem{Base: row, Disp: column * r.width}
}

func (r *rotation) register() reg.VecVirtual {
	if r.width == 64 {
		return r.ZMM()
	}
	return r.YMM()
}

// pick chooses the form of an instruction for the element size.
func (r *rotation) pick(single, double func(...operand.Op), ops ...operand.Op) {
	if r.size == 4 {
		single(ops...)
		return
	}
	double(ops...)
}

func (r *rotation) move(from, to operand.Op) {
	r.pick(func(o ...operand.Op) { r.VMOVUPS(o[0], o[1]) }, func(o ...operand.Op) { r.VMOVUPD(o[0], o[1]) }, from, to)
}

func (r *rotation) copy(from, to operand.Op) {
	r.pick(func(o ...operand.Op) { r.VMOVAPS(o[0], o[1]) }, func(o ...operand.Op) { r.VMOVAPD(o[0], o[1]) }, from, to)
}

func (r *rotation) broadcast(from, to operand.Op) {
	r.pick(func(o ...operand.Op) { r.VBROADCASTSS(o[0], o[1]) }, func(o ...operand.Op) { r.VBROADCASTSD(o[0], o[1]) }, from, to)
}

func (r *rotation) multiply(x, y, to operand.Op) {
	r.pick(func(o ...operand.Op) { r.VMULPS(o...) }, func(o ...operand.Op) { r.VMULPD(o...) }, x, y, to)
}

func (r *rotation) multiplyAdd(x, y, to operand.Op) {
	r.pick(func(o ...operand.Op) { r.VFMADD231PS(o...) }, func(o ...operand.Op) { r.VFMADD231PD(o...) }, x, y, to)
}

func (r *rotation) multiplySubtract(x, y, to operand.Op) {
	r.pick(func(o ...operand.Op) { r.VFNMADD231PS(o...) }, func(o ...operand.Op) { r.VFNMADD231PD(o...) }, x, y, to)
}
