package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (g *passes) register() reg.VecVirtual {
	if g.width == 64 {
		return g.ZMM()
	}
	return g.YMM()
}

// choose emits the form for the size of the parts.
func (g *passes) choose(single, double func()) {
	if g.size == 4 {
		single()
		return
	}
	double()
}

// load moves a vector from or to memory.
func (g *passes) load(from, to operand.Op) {
	g.choose(func() { g.VMOVUPS(from, to) }, func() { g.VMOVUPD(from, to) })
}

func (g *passes) broadcast(from operand.Mem, to reg.VecVirtual) {
	g.choose(func() { g.VBROADCASTSS(from, to) }, func() { g.VBROADCASTSD(from, to) })
}

func (g *passes) copy(x reg.VecVirtual) reg.VecVirtual {
	y := g.register()
	g.choose(func() { g.VMOVAPS(x, y) }, func() { g.VMOVAPD(x, y) })
	return y
}

func (g *passes) zero() reg.VecVirtual {
	x := g.register()
	if g.width == 64 {
		g.VPXORD(x, x, x)
	} else {
		g.VXORPS(x, x, x)
	}
	return x
}

func (g *passes) add(x, y reg.VecVirtual) reg.VecVirtual {
	z := g.register()
	g.choose(func() { g.VADDPS(y, x, z) }, func() { g.VADDPD(y, x, z) })
	return z
}

func (g *passes) sub(x, y reg.VecVirtual) reg.VecVirtual {
	z := g.register()
	g.choose(func() { g.VSUBPS(y, x, z) }, func() { g.VSUBPD(y, x, z) })
	return z
}

// scale is x *= c.
func (g *passes) scale(c, x reg.VecVirtual) {
	g.choose(func() { g.VMULPS(c, x, x) }, func() { g.VMULPD(c, x, x) })
}

// mulAdd is x += c·y, negMulAdd x -= c·y.
func (g *passes) mulAdd(c, y, x reg.VecVirtual) {
	g.choose(func() { g.VFMADD231PS(c, y, x) }, func() { g.VFMADD231PD(c, y, x) })
}

func (g *passes) negMulAdd(c, y, x reg.VecVirtual) {
	g.choose(func() { g.VFNMADD231PS(c, y, x) }, func() { g.VFNMADD231PD(c, y, x) })
}

// swap exchanges real and imaginary parts.
func (g *passes) swap(x, to reg.VecVirtual) {
	g.choose(func() { g.VPERMILPS(operand.U8(0xB1), x, to) }, func() { g.VPERMILPD(operand.U8(0x55), x, to) })
}

// plusI is x += i·y for a y with its parts swapped, minusI x -= i·y.
func (g *passes) plusI(x, swapped reg.VecVirtual) {
	g.choose(func() { g.VFMADDSUB213PS(swapped, g.ones, x) }, func() { g.VFMADDSUB213PD(swapped, g.ones, x) })
}

func (g *passes) minusI(x, swapped reg.VecVirtual) {
	g.choose(func() { g.VFMSUBADD213PS(swapped, g.ones, x) }, func() { g.VFMSUBADD213PD(swapped, g.ones, x) })
}

// turnEach multiplies the numbers of two vectors.
func (g *passes) turnEach(x, by reg.VecVirtual) {
	re, im, t := g.register(), g.register(), g.register()
	g.choose(func() { g.VMOVSLDUP(by, re) }, func() { g.VMOVDDUP(by, re) })
	g.choose(func() { g.VMOVSHDUP(by, im) }, func() { g.VPERMILPD(operand.U8(map[int]uint8{32: 0xF, 64: 0xFF}[g.width]), by, im) })
	g.swap(x, t)
	g.scale(im, t)
	g.choose(func() { g.VFMADDSUB213PS(t, re, x) }, func() { g.VFMADDSUB213PD(t, re, x) })
}

// twiddle multiplies x by number k of a list.
func (g *passes) twiddle(x reg.VecVirtual, list reg.Register, k int) {
	re, im, t := g.register(), g.register(), g.register()
	g.broadcast(operand.Mem{Base: list, Disp: 2 * k * g.size}, re)
	g.broadcast(operand.Mem{Base: list, Disp: (2*k + 1) * g.size}, im)
	g.swap(x, t)
	g.scale(im, t)
	g.choose(func() { g.VFMADDSUB213PS(t, re, x) }, func() { g.VFMADDSUB213PD(t, re, x) })
}
