package scalar

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// randomLoop is a loop over many numbers of several types, more than there are registers, with branches and a loop within.
type randomLoop struct {
	*Builder
	r     *rand.Rand
	array map[string]Place // of each kind of types: what NaN an op gives is the processor's choice, so no integer may come of it
}

var widths = map[string]int{"s32": 4, "u32": 4, "s64": 8, "f32": 4, "f64": 8, "pred": 1}

func (x *randomLoop) step(vars []Value, types []string) []Value {
	now := append([]Value{}, vars...)
	pick := func(t string) Value {
		for {
			if i := x.r.IntN(len(now)); types[i] == t {
				return now[i]
			}
		}
	}
	named := func(name string, args ...Value) Value {
		v, ok := x.Named(ByName(name), args...)
		if !ok {
			panic(name)
		}
		return v
	}
	for range 40 {
		i := x.r.IntN(len(now))
		t := types[i]
		if t == "pred" {
			from := []string{"s32", "u32", "s64", "f32", "f64"}[x.r.IntN(5)]
			now[i] = named([]string{"eq.", "ne.", "lt.", "le."}[x.r.IntN(4)]+from, pick(from), pick(from))
			continue
		}
		ops := []string{"add.", "subtract.", "multiply.", "divide.", "maximum.", "minimum."}
		switch x.r.IntN(7) {
		case 0:
			now[i] = named("select."+Sized(widths[t]).String(), pick("pred"), pick(t), pick(t))
		case 1:
			to := []string{"s32", "f32", "f64"}[x.r.IntN(3)]
			if t == to || t == "u32" || t == "s64" {
				to = "s32"
				if t == "s32" {
					to = "f32"
				}
			}
			for j := range now {
				if types[j] == to {
					now[j] = named("convert."+t+"."+to, now[i])
					break
				}
			}
		case 2:
			now[i] = x.Load(widths[t], x.array[t], x.Index(S32, pick("s32"), 15, 8), 0)
		case 3:
			x.Store(widths[t], x.array[t], x.Index(S64, pick("s64"), 15, 8), 0, now[i])
		default:
			if t[0] != 'f' {
				ops = append(ops, "and.", "or.", "xor.", "remainder.", "shift-left.", "shift-right-logical.", "shift-right-arithmetic.")
			}
			y := pick(t)
			if x.r.IntN(4) == 0 {
				y = x.Const(widths[t], []uint64{0, 1, 2, 3, 5, 8, 31, 1 << 31, math.MaxUint32, math.MaxUint64, 0x3f800000, 0x7fc00000}[x.r.IntN(12)])
			}
			now[i] = named(ops[x.r.IntN(len(ops))]+t, pick(t), y)
		}
	}
	return now
}

func randomProgram(seed uint64) (*Program, bool) {
	x := &randomLoop{Builder: NewBuilder(), r: rand.New(rand.NewPCG(seed, 1))}
	whole, single, double := x.Place(), x.Place(), x.Place()
	x.array = map[string]Place{"s32": whole, "u32": whole, "s64": whole, "pred": whole, "f32": single, "f64": double}
	var types []string
	var first []Value
	for i := range 8 + x.r.IntN(40) {
		t := []string{"s32", "f32", "s64", "pred", "f64", "u32"}[i%6]
		types = append(types, t)
		v := x.Load(widths[t], x.array[t], None, int64(8*(i%16)))
		if t == "pred" {
			v, _ = x.Named(ByName("ne.u8"), v, x.Const(1, 0))
		}
		first = append(first, v)
	}
	counted := func(n uint64, vars []Value, body func([]Value) []Value) []Value {
		all := append([]Value{x.Const(4, 0)}, vars...)
		out := x.While(all, func(v []Value) Value {
			c, _ := x.Named(ByName("lt.s32"), v[0], x.Const(4, n))
			return c
		}, func(v []Value) []Value {
			next, _ := x.Named(ByName("add.s32"), v[0], x.Const(4, 1))
			return append([]Value{next}, body(v[1:])...)
		})
		return out[1:]
	}
	var ws []int
	for _, t := range types {
		ws = append(ws, widths[t])
	}
	last := counted(50, first, func(v []Value) []Value {
		v = x.step(v, types)
		v = counted(3, v, func(v []Value) []Value { return x.step(v, types) })
		return x.If(v[3], ws, func() []Value { return x.step(v, types) }, func() []Value { return v })
	})
	for i, v := range last {
		x.Store(widths[types[i]], x.array[types[i]], None, int64(128+8*i), v)
	}
	return x.Build()
}

// memories are the arrays of a random program.
type memories struct {
	whole  [128]int64
	single [256]float32
	double [128]float64
}

func runRandom(p *Program, denormal bool, run func(*State) bool) *memories {
	m := &memories{}
	for i := range m.whole {
		m.whole[i], m.double[i], m.single[2*i] = int64(i*i)-40, float64(i)*1.5-4, float32(i)*0.75-5
		if denormal && i%3 > 0 {
			m.double[i], m.single[2*i] = math.Float64frombits(uint64(i)), math.Float32frombits(uint32(i)<<15|1)
		}
	}
	s := p.NewState()
	s.SetPlace(0, unsafe.Pointer(&m.whole))
	s.SetPlace(1, unsafe.Pointer(&m.single))
	s.SetPlace(2, unsafe.Pointer(&m.double))
	for s.Begin(); !run(s); {
	}
	for i := range m.double { // one NaN is as good as another
		if m.double[i] != m.double[i] {
			m.double[i] = math.NaN()
		}
	}
	for i := range m.single {
		if m.single[i] != m.single[i] {
			m.single[i] = float32(math.NaN())
		}
	}
	return m
}

func asBytes(m *memories) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(m)), unsafe.Sizeof(*m)) }

// TestNative runs random programs in all ways: interpreted, and through both translations.
func TestNative(t *testing.T) {
	if !hasNative {
		t.Skip("no native programs on this system")
	}
	for seed := range uint64(400) {
		p, ok := randomProgram(seed)
		require.True(t, ok, seed)
		require.NotNil(t, p.native, seed)
		gently := func(s *State) bool { s.denormals = true; return p.Run(s) }
		for _, denormal := range []bool{false, true} {
			want := runRandom(p, denormal, p.interpret)
			for name, run := range map[string]func(*State) bool{"run": p.Run, "gently": gently} {
				got := runRandom(p, denormal, run)
				require.Truef(t, bytes.Equal(asBytes(want), asBytes(got)), "%s, seed %d, denormals %v:\n%v", name, seed, denormal, p)
			}
		}
	}
}

// TestNativeAmongGoroutines: the collector and the profiler's signals meet goroutines in native code.
func TestNativeAmongGoroutines(t *testing.T) {
	if !hasNative {
		t.Skip("no native programs on this system")
	}
	p, ok := randomProgram(7)
	require.True(t, ok)
	done := make(chan bool)
	for range 4 {
		go func() {
			for range 200 {
				runRandom(p, false, p.Run)
			}
			done <- true
		}()
	}
	for range 4 {
		for waiting := true; waiting; {
			runtime.GC()
			runtime.Stack(make([]byte, 1<<16), true)
			select {
			case <-done:
				waiting = false
			default:
			}
		}
	}
}
