package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// machine emits instructions for one width of vectors and one size of lanes. Its methods take vectors, or memory as the last operand, and
// return new vectors; the register allocator joins what can be.
type machine struct {
	*build.Context
	wide      bool // 512 bits, with mask registers; else 256
	lane      int  // bytes of a lane
	constants map[string]bool
	labels    *int // made so far
}

// vector is a register with lanes, or, if k is set, a lane mask in a mask register. Masks of 256 bits are vectors of zeros and ones.
type vector struct {
	reg.VecVirtual
	k reg.OpmaskVirtual
}

// as is m for lanes of another size.
func (m *machine) as(lane int) *machine {
	r := *m
	r.lane = lane
	return &r
}

func (m *machine) width() int {
	if m.wide {
		return 64
	}
	return 32
}

func (m *machine) lanes() int { return m.width() / m.lane }

func (m *machine) vector() vector {
	if m.wide {
		return vector{VecVirtual: m.ZMM()}
	}
	return vector{VecVirtual: m.YMM()}
}

// op appends an instruction by name.
func (m *machine) op(name string, ops ...operand.Op) {
	method := reflect.ValueOf(m.Context).MethodByName(name)
	if !method.IsValid() {
		panic("no instruction " + name)
	}
	args := make([]reflect.Value, len(ops))
	for i, o := range ops {
		if v, ok := o.(vector); ok {
			o = v.VecVirtual
		}
		args[i] = reflect.ValueOf(o)
	}
	method.Call(args)
}

// float appends an instruction of the lanes' floating-point type.
func (m *machine) float(name string, ops ...operand.Op) { m.op(name+m.floatSuffix(), ops...) }

func (m *machine) floatSuffix() string {
	if m.lane == 8 {
		return "PD"
	}
	return "PS"
}

func (m *machine) integerSuffix() string {
	return map[int]string{1: "B", 2: "W", 4: "D", 8: "Q"}[m.lane]
}

// float3 is an instruction of two operands and a result.
func (m *machine) float3(name string, x vector, y operand.Op) vector {
	d := m.vector()
	m.float(name, y, x, d)
	return d
}

func (m *machine) add(x vector, y operand.Op) vector { return m.float3("VADD", x, y) }
func (m *machine) sub(x vector, y operand.Op) vector { return m.float3("VSUB", x, y) }
func (m *machine) mul(x vector, y operand.Op) vector { return m.float3("VMUL", x, y) }
func (m *machine) div(x vector, y operand.Op) vector { return m.float3("VDIV", x, y) }

// min and max are the processor's: y, if one is NaN or both are zero.
func (m *machine) min(x vector, y operand.Op) vector { return m.float3("VMIN", x, y) }
func (m *machine) max(x vector, y operand.Op) vector { return m.float3("VMAX", x, y) }

func (m *machine) sqrt(x operand.Op) vector {
	d := m.vector()
	m.float("VSQRT", x, d)
	return d
}

// copyOf is x in a register that may be overwritten.
func (m *machine) copyOf(x operand.Op) vector {
	d := m.vector()
	m.float("VMOVU", x, d)
	return d
}

// fma is x·y + z, fnma z - x·y, fms x·y - z, rounded once.
func (m *machine) fma(x vector, y, z operand.Op) vector  { return m.fused("VFMADD231", x, y, z) }
func (m *machine) fnma(x vector, y, z operand.Op) vector { return m.fused("VFNMADD231", x, y, z) }
func (m *machine) fms(x vector, y, z operand.Op) vector  { return m.fused("VFMSUB231", x, y, z) }

func (m *machine) fused(name string, x vector, y, z operand.Op) vector {
	d := m.copyOf(z)
	m.float(name, y, x, d)
	return d
}

// horner is the polynomial with these coefficients, the highest first.
func (m *machine) horner(x vector, coefficients ...float64) vector {
	d := m.copyOf(m.constant(coefficients[0]))
	for _, c := range coefficients[1:] {
		m.float("VFMADD213", m.constant(c), x, d)
	}
	return d
}

// polynomial is horner in the shortest chain of steps, for code that waits for each result: neighbours are joined, and then pairs of them.
func (m *machine) polynomial(x vector, coefficients ...float64) vector {
	var terms []vector // the lowest first
	n := len(coefficients)
	for i := 0; i < n; i += 2 {
		low := m.constant(coefficients[n-1-i])
		if i+1 < n {
			terms = append(terms, m.fma(x, m.constant(coefficients[n-2-i]), low))
		} else {
			terms = append(terms, m.copyOf(low))
		}
	}
	for len(terms) > 1 {
		x = m.mul(x, x)
		joined := terms[:0]
		for i := 0; i < len(terms); i += 2 {
			if i+1 < len(terms) {
				joined = append(joined, m.fma(x, terms[i+1], terms[i]))
			} else {
				joined = append(joined, terms[i])
			}
		}
		terms = joined
	}
	return terms[0]
}

// Rounding modes.
const (
	toNearest = 0
	down      = 1
	up        = 2
	toZero    = 3
)

func (m *machine) round(x operand.Op, mode int) vector {
	d := m.vector()
	if m.wide {
		m.float("VRNDSCALE", operand.U8(uint8(mode)), x, d)
	} else {
		m.float("VROUND", operand.U8(uint8(mode)), x, d)
	}
	return d
}

// bits is a bitwise op: AND, OR, XOR, ANDN (not x, and y).
func (m *machine) bits(name string, x vector, y operand.Op) vector {
	d := m.vector()
	if m.wide {
		suffix := "D"
		if m.lane == 8 {
			suffix = "Q"
		}
		m.op("VP"+name+suffix, y, x, d)
	} else {
		m.op("VP"+name, y, x, d)
	}
	return d
}

func (m *machine) abs(x vector) vector { return m.bits("AND", x, m.pattern(1<<(8*m.lane-1)-1)) }

// withSign is magnitude x, which is not negative, with the sign of y.
func (m *machine) withSign(x, y vector) vector {
	return m.bits("OR", x, m.bits("AND", y, m.pattern(1<<(8*m.lane-1))))
}

func (m *machine) zero() vector {
	d := m.vector()
	if m.wide {
		m.op("VPXORD", d, d, d)
	} else {
		m.op("VPXOR", d, d, d)
	}
	return d
}

// integer3 is an instruction on integer lanes.
func (m *machine) integer3(name string, x vector, y operand.Op) vector {
	d := m.vector()
	m.op("VP"+name+m.integerSuffix(), y, x, d)
	return d
}

// shift shifts all lanes by the same amount: SLL, SRL, SRA.
func (m *machine) shift(name string, x vector, by int) vector {
	d := m.vector()
	m.op("VP"+name+m.integerSuffix(), operand.U8(uint8(by)), x, d)
	return d
}

// Predicates of floating-point comparison, none of which signals.
const (
	isEqual     = 0x00
	isUnordered = 0x03
	isNotEqual  = 0x04
	isLess      = 0x11
	isLessEqual = 0x12
	isNotLess   = 0x15 // or NaN
)

func (m *machine) compare(predicate int, x vector, y operand.Op) vector {
	if m.wide {
		k := m.K()
		m.float("VCMP", operand.U8(uint8(predicate)), y, x, k)
		return vector{k: k}
	}
	d := m.vector()
	m.float("VCMP", operand.U8(uint8(predicate)), y, x, d)
	return d
}

// negative is a mask of the lanes below zero, and of some that are -0 or NaN.
func (m *machine) negative(x vector) vector {
	if m.wide {
		return m.compare(isLess, x, m.zero())
	}
	return x // masks are signs
}

// choose is x where the mask is set, else y.
func (m *machine) choose(mask vector, x operand.Op, y vector) vector {
	d := m.vector()
	if m.wide {
		switch m.lane {
		case 1, 2:
			m.op("VPBLENDM"+m.integerSuffix(), x, y, mask.k, d)
		default:
			m.float("VBLENDM", x, y, mask.k, d)
		}
		return d
	}
	if m.lane < 4 {
		m.op("VPBLENDVB", mask, x, y, d)
	} else {
		m.float("VBLENDV", mask, x, y, d)
	}
	return d
}

// constant is a number in all lanes, in memory.
func (m *machine) constant(x float64) operand.Mem {
	if m.lane == 8 {
		return m.pattern(math.Float64bits(x))
	}
	return m.pattern(uint64(math.Float32bits(float32(x))))
}

// pattern is a pattern of bits in all lanes, in memory.
func (m *machine) pattern(bits uint64) operand.Mem {
	lane := max(m.lane, 4)
	for have := m.lane; have < 4; have *= 2 {
		bits |= bits << (8 * have)
	}
	name := fmt.Sprintf("all%d_%x", 8*lane, bits)
	return m.global(name, func() {
		for at := 0; at < 64; at += lane {
			if lane == 4 {
				m.AppendDatum(operand.U32(uint32(bits)))
			} else {
				m.AppendDatum(operand.U64(bits))
			}
		}
	})
}

// global is read-only memory of that name, which fill fills the first time.
func (m *machine) global(name string, fill func()) operand.Mem {
	if !m.constants[name] {
		m.constants[name] = true
		m.StaticGlobal(name)
		m.DataAttributes(attr.RODATA | attr.NOPTR)
		fill()
	}
	return operand.NewDataAddr(operand.NewStaticSymbol(name), 0)
}

// table is 16 bytes in memory, repeated.
func (m *machine) table(b [16]byte) operand.Mem {
	return m.global(fmt.Sprintf("table_%x", b), func() {
		for i := range 8 {
			m.AppendDatum(operand.U64(binary.LittleEndian.Uint64(b[i%2*8:])))
		}
	})
}

// indices is the number of each lane of 32 bits.
func (m *machine) indices() operand.Mem {
	return m.global("indices", func() {
		for i := range 16 {
			m.AppendDatum(operand.U32(uint32(i)))
		}
	})
}

// tailMasks is a row of set lanes and one of clear ones: read from lane lanes-n on, it is a mask of n lanes.
func (m *machine) tailMasks() operand.Mem {
	return m.global("tail_masks", func() {
		for i := range 8 {
			m.AppendDatum(operand.U64(uint64(int64(i/4) - 1)))
		}
	})
}
