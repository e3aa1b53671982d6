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
	case v.integer && v.size == 8:
		v.VPADDQ(at, x, x)
	case v.integer:
		v.VPADDD(at, x, x)
	case v.size == 4:
		v.VADDPS(at, x, x)
	default:
		v.VADDPD(at, x, x)
	}
}

// multiply adds one element of a times each vector of b.
func (v vectors) multiply(a operand.Mem, b, sums []reg.VecVirtual) {
	switch {
	case v.quads:
		x := v.register()
		v.VPBROADCASTD(a, x)
		for i, y := range b {
			if v.unsigned {
				v.multiplyQuads(y, x, sums[i])
			} else {
				v.multiplyQuads(x, y, sums[i])
			}
		}
	case v.integer:
		x, product := v.register(), v.register()
		v.VPBROADCASTD(a, x)
		for i, y := range b {
			if i == len(b)-1 {
				product = x
			}
			v.multiplyIntegers(x, y, product)
			v.add(product, sums[i])
		}
	case v.size == 4:
		x := v.register()
		v.VBROADCASTSS(a, x)
		for i, y := range b {
			v.VFMADD231PS(x, y, sums[i])
		}
	default:
		x := v.register()
		v.VBROADCASTSD(a, x)
		for i, y := range b {
			v.VFMADD231PD(x, y, sums[i])
		}
	}
}

// multiplyInMemory is multiply without a register for the element.
func (v vectors) multiplyInMemory(a operand.Mem, b, sums []reg.VecVirtual) {
	for i, y := range b {
		switch {
		case v.quads:
			v.multiplyQuads(a, y, sums[i])
		case v.size == 4:
			v.VFMADD231PS_BCST(a, y, sums[i])
		default:
			v.VFMADD231PD_BCST(a, y, sums[i])
		}
	}
}

func (v vectors) multiplyIntegers(x operand.Op, y, to reg.VecVirtual) {
	switch {
	case v.pairs:
		v.VPMADDWD(x, y, to)
	case v.size == 8:
		v.VPMULLQ(x, y, to)
	default:
		v.VPMULLD(x, y, to)
	}
}

// rows visits the memory of each sum; c moves to the last row.
func (v vectors) rows(sums [][]reg.VecVirtual, c, ldc reg.Register, visit func(operand.Mem, reg.VecVirtual)) {
	for i, s := range sums {
		if i > 0 {
			v.ADDQ(ldc, c)
		}
		for j, x := range s {
			visit(operand.Mem{Base: c, Disp: j * v.width}, x)
		}
	}
}
