package scalar

// Code writes what one kernel does. It reports false if it cannot on the operands it finds; what it wrote until then is thrown away.
type Code func(x *Site) bool

// Site is a use of a kernel in a program under construction. The kernel fills the Lanes of outputs that are not in memory.
type Site struct {
	*Builder
	In, Out []Operand
}

// Arrays of up to FewLanes elements live in registers. A builder may be told that longer ones do, up to MostLanes: what is done to each of their
// elements needs no call then, but an index that is not known chooses among all of them.
const (
	FewLanes  = 8
	MostLanes = 32
)

// Operand is an array: its elements in registers, or its place in memory.
type Operand struct {
	Width    int // of an element in bytes
	Lanes    []Value
	InMemory bool
	Place    Place
}

// Element is element i of an array.
func (x *Site) Element(o *Operand, i int) Value {
	if !o.InMemory {
		return o.Lanes[i]
	}
	return x.Load(o.Width, o.Place, None, int64(i)*int64(o.Width))
}

// Empty is an array of n elements in so many bytes together, of which nothing is known yet. A large one has no place.
func (b *Builder) Empty(n, bytes int) Operand {
	if bytes == 0 {
		return Operand{}
	}
	o := Operand{Width: bytes / n, Place: -1}
	if o.InMemory = n > b.Lanes || o.Width > 8; !o.InMemory {
		o.Lanes = make([]Value, n)
	}
	return o
}

// Array is a constant array of n elements. It reports false if that is too large for registers.
func (x *Site) Array(data []byte, n int) (Operand, bool) {
	o := x.Empty(n, len(data))
	for k := range o.Lanes {
		o.Lanes[k] = x.ConstBytes(data[k*o.Width : (k+1)*o.Width])
	}
	return o, !o.InMemory
}
