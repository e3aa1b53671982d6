package hlo

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sumModule computes (a+b)·(a-b), with knobs that do not change what it is.
func sumModule(tb testing.TB, prefix string, swapped bool) Module {
	tb.Helper()
	e := NewModule(prefix + "module")
	b := e.NewComputation(prefix + "main")
	var p [2]InstrID
	for _, n := range map[bool][]int{false: {0, 1}, true: {1, 0}}[swapped] {
		p[n] = b.Append(InstrSpec{Opcode: OpParameter, Name: prefix + "p", Shape: shapeOfSize(int64(n)), Attrs: &ParameterAttrs{Number: int64(n)}})
	}
	ops := []Opcode{OpAdd, OpSubtract}
	var v [2]InstrID
	for _, k := range map[bool][]int{false: {0, 1}, true: {1, 0}}[swapped] {
		v[k] = b.Append(InstrSpec{Opcode: ops[k], Shape: f32, Operands: []InstrID{p[0], p[1]}, Common: &Common{Metadata: &Metadata{OpName: prefix}}})
	}
	e.SetEntry(b.Finish(b.Append(InstrSpec{Opcode: OpMultiply, Name: prefix, Shape: f32, Operands: v[:]})))
	return e.Freeze()
}

func TestHashIsStructural(t *testing.T) {
	a, b := sumModule(t, "", false), sumModule(t, "x", true)
	assert.Equal(t, a.Hash(), b.Hash())
	assert.True(t, a.Equal(b))
	assert.NotEqual(t, a.Digest(), b.Digest())
	assert.Equal(t, a.Digest(), sumModule(t, "", false).Digest())
}

// TestHashSeesEverythingElse: one edit each, that must change hash, digest and equality.
func TestHashSeesEverythingElse(t *testing.T) {
	base := sumModule(t, "", false)
	main := base.Entry().ID()
	seen := map[Hash]string{base.Hash(): "base"}
	for name, edit := range map[string]func(e *Editor, c CompEdit){
		"operand":      func(e *Editor, c CompEdit) { c.Instr(4).SetOperand(0, 0) },
		"swapped":      func(e *Editor, c CompEdit) { c.Instr(4).SetOperands(3, 2) },
		"opcode":       func(e *Editor, c CompEdit) { c.Instr(4).SetOpcode(OpDivide) },
		"shape":        func(e *Editor, c CompEdit) { c.Instr(4).SetShape(MakeShape(F64, 4)) },
		"layout":       func(e *Editor, c CompEdit) { c.Instr(4).SetShape(MakeArray(F32, []int64{4}, nil, DefaultLayout(1))) },
		"dynamic":      func(e *Editor, c CompEdit) { c.Instr(4).SetShape(MakeArray(F32, []int64{4}, []bool{true}, nil)) },
		"tuple":        func(e *Editor, c CompEdit) { c.Instr(4).SetShape(MakeTuple(f32)) },
		"root":         func(e *Editor, c CompEdit) { c.SetRoot(3) },
		"control":      func(e *Editor, c CompEdit) { c.Instr(3).AddControlPredecessor(2) },
		"control 2":    func(e *Editor, c CompEdit) { c.Instr(2).AddControlPredecessor(3) },
		"thread":       func(e *Editor, c CompEdit) { c.SetExecutionThread("host") },
		"schedule":     func(e *Editor, c CompEdit) { assert.NoError(t, c.SetSchedule([]InstrID{0, 1, 2, 3, 4})) },
		"sharding":     func(e *Editor, c CompEdit) { c.Instr(4).SetAttr(KeySharding, &Sharding{Kind: ShardingManual}) },
		"config":       func(e *Editor, c CompEdit) { c.Instr(4).SetAttr(KeyBackendConfig, "x") },
		"dead code":    func(e *Editor, c CompEdit) { c.Add(OpAbs, f32, 2) },
		"dead code 2":  func(e *Editor, c CompEdit) { c.Add(OpAbs, f32, 3) },
		"replicas":     func(e *Editor, c CompEdit) { e.SetConfig(&ModuleConfig{ReplicaCount: 2}) },
		"alias":        func(e *Editor, c CompEdit) { e.SetConfig(&ModuleConfig{InputOutputAlias: []Alias{{Parameter: 1}}}) },
		"computation":  func(e *Editor, c CompEdit) { e.AddComputation("x").Add(OpPartitionId, f32) },
		"parameter":    func(e *Editor, c CompEdit) { c.Instr(0).SetAttrs(&ParameterAttrs{Number: 5}) },
		"unknown attr": func(e *Editor, c CompEdit) { c.Instr(4).SetCommon(&Common{Unknown: []UnknownAttr{{"k", "v"}}}) },
	} {
		e := base.Edit()
		edit(e, e.Computation(main))
		m := e.Freeze()
		assert.Empty(t, seen[m.Hash()], name)
		seen[m.Hash()] = name
		assert.False(t, base.Equal(m), name)
		assert.False(t, m.Equal(base), name)
		assert.NotEqual(t, base.Digest(), m.Digest(), name)
	}
	for name, edit := range map[string]func(e *Editor, c CompEdit){
		"name":             func(e *Editor, c CompEdit) { c.Instr(4).SetName("n") },
		"metadata":         func(e *Editor, c CompEdit) { c.Instr(4).SetAttr(KeyMetadata, &Metadata{OpName: "n"}) },
		"no metadata":      func(e *Editor, c CompEdit) { c.Instr(3).SetCommon(nil) },
		"statistics":       func(e *Editor, c CompEdit) { c.Instr(4).SetAttr(KeyStatistics, &Statistics{VisualizingIndex: 1}) },
		"module name":      func(e *Editor, c CompEdit) { e.SetName("n") },
		"computation name": func(e *Editor, c CompEdit) { c.SetName("n") },
		"file name":        func(e *Editor, c CompEdit) { e.SetConfig(&ModuleConfig{FileName: "f", ReplicaCount: 1}) },
		"note":             func(e *Editor, c CompEdit) { c.SetNote("n", int64(1)) },
		"module note":      func(e *Editor, c CompEdit) { e.SetNote("n", int64(1)) },
		"inserted, removed": func(e *Editor, c CompEdit) {
			x := c.InsertBefore(2, OpAbs, f32, 0)
			assert.NoError(t, c.Remove(x.ID()))
		},
	} {
		e := base.Edit()
		edit(e, e.Computation(main))
		m := e.Freeze()
		assert.True(t, m != base)
		assert.Equal(t, base.Hash(), m.Hash(), name)
		assert.True(t, base.Equal(m), name)
		assert.NotEqual(t, base.Digest(), m.Digest(), name)
	}
}

func TestHashLooksIntoCallees(t *testing.T) {
	m, all := callModule(t)
	h := m.HashOf(all["main"])
	e := m.Edit()
	e.Computation(all["leaf"]).Add(OpAbs, f32, 0)
	m2 := e.Freeze()
	assert.Equal(t, m.Entry(), m2.Entry(), "the caller is the same version")
	assert.NotEqual(t, h, m2.HashOf(all["main"]))
	assert.Equal(t, m.Entry().Hash(), m2.Entry().Hash())
	assert.False(t, m.Equal(m2))
	assert.Equal(t, m.HashOf(all["alone"]), m2.HashOf(all["alone"]))
	other, _ := callModule(t)
	assert.True(t, m.Equal(other))
}

func TestHashLiterals(t *testing.T) {
	hash := func(l *Literal) Hash {
		e := NewModule("m")
		c := e.AddComputation("c")
		c.SetRoot(c.AddSpec(InstrSpec{Opcode: OpConstant, Shape: l.Shape(), Attrs: &ConstantAttrs{Literal: l}}).ID())
		e.SetEntry(0)
		return e.Freeze().Hash()
	}
	lit := func(v ...float32) *Literal {
		l, err := LiteralOf(MakeShape(F32, int64(len(v))), v...)
		require.NoError(t, err)
		return l
	}
	assert.Equal(t, hash(lit(1, 2, 3)), hash(lit(1, 2, 3)))
	assert.NotEqual(t, hash(lit(1, 2, 3)), hash(lit(1, 2, 4)))
	assert.NotEqual(t, hash(lit(0)), hash(lit(float32(math.Copysign(0, -1)))), "literals by bits")
	assert.NotEqual(t, hash(NewTupleLiteral(lit(1), lit(2))), hash(NewTupleLiteral(lit(2), lit(1))))
	elided := NewElidedLiteral(MakeShape(F32, 3))
	assert.NotEqual(t, hash(lit(1, 2, 3)), hash(elided))

	known, other := lit(1, 2, 3), lit(1, 2, 4)
	for range 2 { // before and after the hashes are known
		assert.True(t, known.Equal(lit(1, 2, 3)))
		assert.False(t, known.Equal(other))
		assert.False(t, elided.Equal(other))
		seen, err := known.WithShape(MakeShape(F32, 3, 1))
		require.NoError(t, err)
		assert.NotEqual(t, known.hash(), seen.hash())
		other.hash()
		assert.True(t, !known.isElided() && elided.hash() != 0 && elided.isElided())
	}
}

// TestHashIgnoresOrder: the same random graph built in two random orders is equal; one changed edge makes it different.
func TestHashIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		operands := make([][]int, n)
		for i := 1; i < n; i++ {
			operands[i] = rapid.SliceOfN(rapid.IntRange(0, i-1), 0, 3).Draw(t, "operands")
		}
		build := func(shuffle []int, tweak int) Module {
			e := NewModule("m")
			c := e.AddComputation("c")
			id := make([]InstrID, n)
			done := make([]bool, n)
			var add func(i int)
			add = func(i int) {
				if done[i] {
					return
				}
				done[i] = true
				var ops []InstrID
				for _, o := range operands[i] {
					add(o)
					ops = append(ops, id[o])
				}
				size := int64(i) // every instruction is unlike the others, so that dead code has one canonical order
				if i == tweak {
					size = int64(n)
				}
				id[i] = c.Add(OpTuple, shapeOfSize(size), ops...).ID()
			}
			for _, i := range shuffle {
				add(i)
			}
			c.SetRoot(id[n-1])
			e.SetEntry(0)
			return e.Freeze()
		}
		identity := make([]int, n)
		for i := range identity {
			identity[i] = i
		}
		a := build(identity, -1)
		b := build(rapid.Permutation(identity).Draw(t, "order"), -1)
		require.Equal(t, a.Hash(), b.Hash())
		require.True(t, a.Equal(b))
		d := build(identity, rapid.IntRange(0, n-1).Draw(t, "tweak"))
		require.NotEqual(t, a.Hash(), d.Hash())
		require.False(t, a.Equal(d))
	})
}

// TestShapesMadeFromOthersHashAnew: a shape keeps its hash, and one that is made from it must not inherit that.
func TestShapesMadeFromOthersHashAnew(t *testing.T) {
	hash := func(s Shape) uint64 {
		h := newHasher(1)
		h.shape(s)
		return h.sum64()
	}
	a := MakeShape(F32, 2, 3)
	pair := MakeTuple(a, a)
	seen := map[uint64]string{hash(a): "a", hash(pair): "pair"}
	for name, s := range map[string]Shape{
		"layout": a.WithLayout(DefaultLayout(2)), "type": a.WithType(PRED), "dynamic": a.WithDynamicDimension(0, true),
		"elements": pair.WithDefaultLayout(),
	} {
		assert.Empty(t, seen[hash(s)], name)
		seen[hash(s)] = name
	}
	assert.Equal(t, hash(MakeShape(PRED, 2, 3)), hash(a.WithType(PRED)))
}
