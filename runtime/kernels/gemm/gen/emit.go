package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors emits instructions for one element size and vector width.
type vectors struct {
	generator
	element
	width int
}

func (v vectors) register() reg.VecVirtual {
	if v.width == 64 {
		return v.ZMM()
	}
	return v.YMM()
}

func (v vectors) zero(x reg.VecVirtual) {
	if v.width == 64 {
		v.VPXORD(x, x, x)
		return
	}
	v.VXORPS(x, x, x)
}

func (v vectors) load(from, to operand.Op) {
	if v.size == 4 {
		v.VMOVUPS(from, to)
		return
	}
	v.VMOVUPD(from, to)
}

func (v vectors) add(at operand.Op, x reg.VecVirtual) {
	switch {
	case v.integer:
		v.VPADDD(at, x, x)
	case v.size == 4:
		v.VADDPS(at, x, x)
	default:
		v.VADDPD(at, x, x)
	}
}

// multiply adds one element of a times two vectors of b.
func (v vectors) multiply(a operand.Mem, b0, b1 reg.VecVirtual, sums [2]reg.VecVirtual) {
	switch {
	case v.quads:
		x := v.register()
		v.VPBROADCASTD(a, x)
		if v.unsigned {
			v.multiplyQuads(b0, x, sums[0])
			v.multiplyQuads(b1, x, sums[1])
			return
		}
		v.multiplyQuads(x, b0, sums[0])
		v.multiplyQuads(x, b1, sums[1])
	case v.integer:
		x, product := v.register(), v.register()
		v.VPBROADCASTD(a, x)
		v.multiplyIntegers(x, b0, product)
		v.add(product, sums[0])
		v.multiplyIntegers(x, b1, x)
		v.add(x, sums[1])
	case v.size == 4:
		x := v.register()
		v.VBROADCASTSS(a, x)
		v.VFMADD231PS(x, b0, sums[0])
		v.VFMADD231PS(x, b1, sums[1])
	default:
		x := v.register()
		v.VBROADCASTSD(a, x)
		v.VFMADD231PD(x, b0, sums[0])
		v.VFMADD231PD(x, b1, sums[1])
	}
}

// multiplyInMemory is multiply without a register for the element.
func (v vectors) multiplyInMemory(a operand.Mem, b0, b1 reg.VecVirtual, sums [2]reg.VecVirtual) {
	switch {
	case v.quads:
		v.multiplyQuads(a, b0, sums[0])
		v.multiplyQuads(a, b1, sums[1])
	case v.size == 4:
		v.VFMADD231PS_BCST(a, b0, sums[0])
		v.VFMADD231PS_BCST(a, b1, sums[1])
	default:
		v.VFMADD231PD_BCST(a, b0, sums[0])
		v.VFMADD231PD_BCST(a, b1, sums[1])
	}
}

func (v vectors) multiplyIntegers(x, y, to reg.VecVirtual) {
	if v.pairs {
		v.VPMADDWD(x, y, to)
		return
	}
	v.VPMULLD(x, y, to)
}

// rows visits the memory of each sum; c moves to the last row.
func (v vectors) rows(sums [][2]reg.VecVirtual, c, ldc reg.Register, visit func(operand.Mem, reg.VecVirtual)) {
	for i, s := range sums {
		if i > 0 {
			v.ADDQ(ldc, c)
		}
		visit(operand.Mem{Base: c}, s[0])
		visit(operand.Mem{Base: c, Disp: v.width}, s[1])
	}
}
