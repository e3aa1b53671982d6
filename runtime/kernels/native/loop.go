package native

import (
	"math/bits"
	"slices"

	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/internal/processor"
)

// machineCode is a loop before it is where it can be executed.
type machineCode struct {
	bytes        []byte
	lane         int
	lanes        int
	masked       bool
	overlaps     bool // see [Code]
	spills       int
	instructions int
}

// bytesOfInstruction is about how many bytes an instruction takes, with what it needs besides.
const bytesOfInstruction = 10

// assemble writes the loop over bundles of rows and over rows, and in it the one over elements, the last of which are a vector cut off by a mask, or, where there are
// no masks, one that ends where the row does. As many results of instructions
// that give the same for all elements of a row as there are registers to spare are computed where the row begins. It returns nil if one is left in the loop that
// must not be.
func assemble(e *expansion) *machineCode {
	all := e.all()
	c := &amd64.Code{}
	c.Grow(bytesOfInstruction * len(all))
	trial := newAssigner(e, c, all, e.placesIn(all), nil)
	trial.labels = e.newLabels(trial.c)
	trial.write()
	registers := 16
	if e.wide {
		registers = 32
	}
	spare := registers - max(trial.most, orderRegisters)
	w := e.widened(trial, &spare)
	e.keepConstants(spare)
	if w.half != nil { // the code has changed
		w.half = e.halves()
	}
	all = e.all()
	before, pinned := e.invariants(spare)
	if w.half != nil && slices.ContainsFunc(before, func(i int) bool { return w.half.roles[i] != asIs }) {
		w.half = nil // what is the same everywhere is computed once, as it is
	}
	identities := make([]int, len(e.b.folds))
	for i := range identities {
		if e.b.across {
			break
		}
		identities[i] = e.repeat(e.b.folds[i].identity)
	}
	var body []int
	for _, i := range all {
		if !slices.Contains(before, i) {
			body = append(body, i)
		}
	}
	if slices.ContainsFunc(body, func(i int) bool { return e.code[i].d != 0 && slices.Contains(e.once, e.code[i].d) }) {
		return nil
	}
	c = &amd64.Code{}
	c.Grow((w.n+2)*bytesOfInstruction*len(all) + len(e.pool)*trial.bits()/8 + 1024)
	places := e.placesIn(body)
	a := newAssigner(e, c, body, places, pinned)
	a.labels = e.newLabels(c)
	m := &machineCode{lane: e.lane, lanes: a.bits() / 8 / e.lane, masked: e.isMaskable(), overlaps: !e.wide && len(e.b.folds) == 0, instructions: len(body)}
	row, loop, rest, done := c.NewLabel(), c.NewLabel(), c.NewLabel(), c.NewLabel()
	w.body, w.places, w.pinned, w.labels = body, places, pinned, a.labels
	a.enter()
	if e.b.across && w.chains {
		m.spills = w.writeAcross(a, before)
		e.finish(c, m, a)
		return m
	}
	c.Mark(row)
	a.begin(before, identities)
	c.Do(amd64.CMP, true, regCount, amd64.R(regIndex))
	c.JumpIf(amd64.E, rest)
	m.spills = w.write(c, before, loop, rest)
	c.Pad(32)
	c.Mark(loop)
	a.prefetch(1)
	a.vector()
	c.DoImm(amd64.ADD, true, amd64.R(regIndex), int32(m.lanes))
	c.Do(amd64.CMP, true, regIndex, amd64.R(regCount))
	c.JumpIf(amd64.L, loop)
	c.Mark(rest)
	m.spills = max(m.spills, a.spills)
	if m.masked {
		c.DoImm(amd64.CMP, true, amd64.M(regFrame, frameTail), 0)
		c.JumpIf(amd64.E, done)
		c.MaskMove(tailMask, amd64.M(regFrame, frameTail))
		switch { // a byte of a mask is for a vector; what follows it belongs to no word
		case e.pairs && e.lane == 8:
			c.MaskMove(firstMask, amd64.M(regFrame, framePairs))
			c.MaskMove(secondMask, amd64.M(regFrame, framePairs+1))
		case e.pairs:
			c.MaskMove(secondMask, amd64.M(regFrame, frameTail+1))
		}
		last := newAssigner(e, c, body, places, pinned)
		last.labels, last.tail, last.near = a.labels, true, true
		last.vector()
		m.spills = max(m.spills, last.spills)
		c.Mark(done)
	} else if m.overlaps {
		c.Do(amd64.MOV, true, regIndex, amd64.M(regFrame, frameTail))
		c.Do(amd64.CMP, true, regIndex, amd64.R(regCount))
		c.JumpIf(amd64.E, done)
		last := newAssigner(e, c, body, places, pinned)
		last.labels, last.near = a.labels, true
		last.vector()
		m.spills = max(m.spills, last.spills)
		c.Mark(done)
	}
	a.advance(stride)
	c.DoImm(amd64.SUB, true, amd64.M(regFrame, frameRows), 1)
	c.JumpIf(amd64.NE, row)
	end := c.NewLabel()
	c.DoImm(amd64.SUB, true, amd64.M(regFrame, frameBundles), 1)
	c.JumpIf(amd64.E, end)
	c.Do(amd64.MOV, true, regOther, amd64.M(regFrame, frameBundle))
	c.Do(amd64.STORE, true, regOther, amd64.M(regFrame, frameRows))
	a.advance(e.b.jump)
	c.Jump(row)
	c.Mark(end)
	e.finish(c, m, a)
	return m
}

// finish returns, and puts the constants behind the code.
func (e *expansion) finish(c *amd64.Code, m *machineCode, a *assigner) {
	a.settle()
	c.ZeroUpper()
	c.Return()
	a.writeConstants(c)
	m.bytes = c.Bytes()
}

// all are the places of all instructions.
func (e *expansion) all() []int {
	all := make([]int, len(e.code))
	for i := range all {
		all[i] = i
	}
	return all
}

// vector writes the body, behind what finds its chains.
func (a *assigner) vector() {
	a.findChains()
	a.write()
}

// findChains computes which chains the next element belongs to.
func (a *assigner) findChains() {
	if len(a.b.folds) > 0 && a.chains == nil {
		a.c.Do(amd64.MOV, false, regChain, amd64.R(regIndex))
		if a.lane > 1 {
			a.c.ShiftImm(amd64.SHL, false, regChain, byte(bits.TrailingZeros(uint(a.lane))))
		}
		a.c.DoImm(amd64.AND, false, amd64.R(regChain), ChainBytes-1)
	}
}

// ahead is how far, in bytes, memory is asked for before it is needed, by a loop over n streams of it. The processor does so too, but not beyond a page, nor
// far enough where there is much to compute. The further the better (to 8192 bytes: measured), while what is under way takes half of the nearest cache.
func ahead(n int) int {
	const half = 16 << 10
	return min(max(half/n&^(line-1), 2048), 8192)
}

// line is how many bytes come from memory at once.
const line = 64

// lightBody is the largest number of instructions that take so little time that Zen 4 and Zen 5 have fetched what follows when they are done: asking for it makes scaling an array take
// 1.15 times as long on Zen 4 and 1.05 times on Zen 5, while loops of more instructions gain some hundredths.
const lightBody = 6

// prefetch asks for the inputs and outputs that are to come behind those of n vectors.
func (a *assigner) prefetch(n int) {
	if a.half == nil && len(a.body) <= lightBody && processor.AMDFamily() >= processor.Zen4 {
		return
	}
	var streams []*instr
	var seen [len(pointers)]bool
	for i := range a.code {
		m := a.code[i].from
		if m.kind == inSlot && m.index < len(pointers) && !seen[m.index] && a.isNear(i) {
			seen[m.index] = true
			streams = append(streams, &a.code[i])
		}
	}
	for _, s := range streams {
		m, far := s.from, ahead(len(streams))
		for at := 0; at < n*a.lanes()*m.size; at += line {
			a.c.Prefetch(a.element(pointers[m.index], m.size, far+at), s.stores)
		}
	}
}
