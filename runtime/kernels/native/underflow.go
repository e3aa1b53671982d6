package native

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/internal/processor"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// A product or quotient of f32 that is denormal, or has a denormal operand, costs some processors hundreds of cycles a vector. A denormal result, which is seldom exact, raises the flag of
// underflow. Where it is raised, code of its own computes products and quotients in f64, which has no denormals where f32 has them, and rounds to the same bits. It takes several times as
// long as code that meets none, and denormals are often few: only pieces that met some the last time are computed so.

// underflows is what code knows of them.
type underflows struct {
	gentle func() *Code // nil if there are no products, and gives nil if there is no such code
	sizes  []int        // how far apart in bytes a slot's elements are along a row
	folds  bool
	met    atomic.Uint64 // bits of the pieces that met some: see [pieces.bit]
	rooms  sync.Pool     // of *[]byte: memory for the gentle code, if it takes more
}

// pieceElements is about how many elements a piece has: so few that there are not many beside a denormal one, and so many that calls cost little.
const pieceElements = 128

// assists says that denormals are left to microcode. AMD's processors with AVX2 compute them at a few cycles more, which is less than f64 takes.
var assists = processor.AMDFamily() == 0

// rounds reports whether an op is a product or a quotient of f32.
func (o *op) rounds() bool {
	return o.name == vec.Of(hlo.OpMultiply, hlo.F32) || o.name == vec.Of(hlo.OpDivide, hlo.F32)
}

// tellsUnderflow reports whether products or quotients are what underflow tells of: where f16 is made of f32, it tells of denormals of f16, too, which cost nothing.
func (b *Builder) tellsUnderflow() bool {
	tells := false
	for i := range b.ops {
		if makesHalves(b.ops[i].name) {
			return false
		}
		tells = tells || b.ops[i].rounds()
	}
	return tells && !slices.ContainsFunc(b.stores, func(s store) bool { return makesHalves(s.name) })
}

// makesHalves reports whether a loop rounds f32 to f16, or to what f16 can hold.
func makesHalves(n vec.Name) bool {
	return n.Op == hlo.OpConvert && n.Types[0] == hlo.F32 && n.Types[1] == hlo.F16
}

// again is a builder of the same code.
func (b *Builder) again() *Builder {
	c := *b
	c.values = slices.Clip(c.values) // making code adds values
	return &c
}

// Assist has code made for processors that leave denormals to microcode, whatever this one does, and returns what undoes that. It is for tests.
func Assist() (restore func()) {
	before := assists
	assists = true
	return func() { assists = before }
}

// Underflows reports whether some pieces are computed without denormals.
func (c *Code) Underflows() bool { return c.met.Load() != 0 && c.gentle() != nil }

// canUnderflow has c look for underflow, and b make code for it.
func (c *Code) canUnderflow(b *Builder) {
	c.sizes, c.folds = make([]int, b.slots), len(b.folds) > 0
	for i := range b.values {
		if v := &b.values[i]; v.slot >= 0 && v.along == Neighbours {
			c.sizes[v.slot] = v.size
			if v.part != 0 {
				c.sizes[v.slot] *= 2
			}
		}
	}
	for i := range b.stores {
		c.sizes[b.stores[i].slot] = b.storedSize(&b.stores[i])
	}
	c.gentle = sync.OnceValue(func() *Code {
		g, ok := b.code(true)
		if !ok || g.Lanes != c.Lanes || g.Masked != c.Masked {
			return nil
		}
		return g
	})
}

// storedSize is the size of the elements of a store.
func (b *Builder) storedSize(s *store) int {
	if s.part != 0 {
		return 2 * s.part
	}
	v := &b.values[s.v]
	switch {
	case s.name != (vec.Name{}):
		return vec.FindRecipe(s.name).Out.Size
	case v.op < 0:
		return v.size
	case v.truth:
		return 1
	}
	return vec.FindRecipe(b.ops[v.op].name).Out.Size
}

// pieces are those of a run: of one row so many elements, and of several as many rows as have about so many. Bundles of rows are one piece, and so is a row
// that is folded, whose chains begin with it.
type pieces struct {
	n     int // of them
	each  int // elements or rows of one
	first uintptr
}

func (c *Code) pieces(bundles, rows, n int, slots []unsafe.Pointer, strides []int64) pieces {
	p, last := pieces{1, max(rows, n), 0}, c.slots-1 // where results go
	apart := int64(c.sizes[last])
	switch {
	case bundles > 1 || rows == 1 && c.folds:
	case rows > 1:
		p.each, apart = max(1, pieceElements/n), strides[last]
		p.n = (rows + p.each - 1) / p.each
	default:
		p.each = pieceElements
		p.n = (n + p.each - 1) / p.each
	}
	p.first = uintptr(slots[last]) / uintptr(max(1, int64(p.each)*apart))
	return p
}

// bit stands for piece i, whose results go to the same memory each time, as far as a word has bits.
func (p *pieces) bit(i int) uint64 { return 1 << ((p.first + uintptr(i)) % 64) }

// meets notes that underflow is somewhere in a run.
func (c *Code) meets(bundles, rows, n int, slots []unsafe.Pointer, strides []int64) {
	p, all := c.pieces(bundles, rows, n, slots, strides), uint64(0)
	for i := range min(p.n, 64) {
		all |= p.bit(i)
	}
	c.met.Or(all)
}

// runGently is Run in pieces, but that neighbours which met nothing are one call, after which all of them are taken to have met what it does.
func (c *Code) runGently(bundles, rows, n int, slots []unsafe.Pointer, strides []int64, memory []byte) {
	g := c.gentle()
	if g == nil {
		enter(c.arguments(bundles, rows, n, slots, strides, memory))
		return
	}
	if g.Memory > len(memory) {
		room, ok := c.rooms.Get().(*[]byte)
		if !ok {
			room = new(make([]byte, g.Memory))
		}
		defer c.rooms.Put(room)
		memory = *room
	}
	p, before := c.pieces(bundles, rows, n, slots, strides), c.met.Load()
	var met, free uint64
	for i := 0; i < p.n; {
		bits, end, code := p.bit(i), i+1, g
		if before&bits == 0 {
			for code = c; end < p.n && before&p.bit(end) == 0; end++ {
				bits |= p.bit(end)
			}
		}
		some, elements := rows, n
		switch {
		case p.n == 1:
		case rows > 1:
			some = min((end-i)*p.each, rows-i*p.each)
		default:
			elements = min((end-i)*p.each, n-i*p.each)
		}
		if enterAndTell(code.arguments(bundles, some, elements, slots, strides, memory)) {
			met |= bits
		} else {
			free |= bits
		}
		if end < p.n {
			for k := range slots[:c.slots] {
				by := strides[k]
				if rows == 1 {
					by = int64(c.sizes[k])
				}
				slots[k] = unsafe.Add(slots[k], int64((end-i)*p.each)*by)
			}
		}
		i = end
	}
	c.met.Or(met)
	c.met.And(^(free &^ met))
}

// inDouble appends the recipe of a product or a quotient with the op on f64 in its place. The product of two numbers of 24 bits has 48, and a quotient of them that is not exact is never
// as near to the middle between two f32 as f64 rounds, so the bits are those of one rounding.
func (e *expansion) inDouble(o *op) {
	r := vec.FindRecipe(o.name)
	names := make(map[vec.Operand]int)
	for i, a := range o.args {
		names[r.Args[i]] = e.operand(r, i, a)
	}
	if e.failure != "" {
		return
	}
	ops := map[amd64.VectorOp]amd64.VectorOp{amd64.VMULPS: amd64.VMULPD, amd64.VDIVPS: amd64.VDIVPD}
	var body []vec.Instr
	for _, i := range r.Body {
		if inDouble, ok := ops[i.Op]; ok && i.Y.Kind() == vec.Vector && i.Mask == 0 {
			body = e.doubled(body, i, inDouble)
		} else {
			body = append(body, i)
		}
	}
	e.splice(body, names, memory{})
	e.values[o.d] = held{names[r.Result], form{r.Out.Kind, r.Out.Size, r.Store, names}}
}

// doubled appends i as o on both halves of its operands as f64, whose results are joined as f32.
func (e *expansion) doubled(body []vec.Instr, i vec.Instr, o amd64.VectorOp) []vec.Instr {
	extract, insert := amd64.VEXTRACTI128, amd64.VINSERTI128
	if e.wide {
		extract, insert = amd64.VEXTRACTF64X4, amd64.VINSERTF64X4
	}
	next := vec.Operand(vec.Vector)<<12 | 0xff0 // names that no recipe has
	then := func(n vec.Instr) vec.Operand {
		n.Bits, n.D = i.Bits, next
		next++
		body = append(body, n)
		return n.D
	}
	halves := func(x vec.Operand) [2]vec.Operand {
		upper := then(vec.Instr{Op: extract, Y: x, Number: 1, HasNumber: true})
		return [2]vec.Operand{then(vec.Instr{Op: amd64.VCVTPS2PD, Y: x}), then(vec.Instr{Op: amd64.VCVTPS2PD, Y: upper})}
	}
	x := halves(i.X)
	y := x
	if i.Y != i.X {
		y = halves(i.Y)
	}
	var d [2]vec.Operand
	for k := range d {
		d[k] = then(vec.Instr{Op: amd64.VCVTPD2PS, Y: then(vec.Instr{Op: o, X: x[k], Y: y[k]})})
	}
	return append(body, vec.Instr{Op: insert, Bits: i.Bits, D: i.D, X: d[0], Y: d[1], Number: 1, HasNumber: true})
}
