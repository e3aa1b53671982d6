package halo_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/internal/packed"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/workqueue"
	"github.com/gohalo/halo/verifier"
)

// step has parameters of every sort: named by their metadata or not, in a tuple, donated, aliased, sharded, of dynamic size.
const step = `HloModule step, input_output_alias={ {0}: (0, {1}, must-alias) }, buffer_donor={ (1, {}) }, entry_computation_layout={((f32[2,3]{0,1}, f32[4]{0}), f32[4]{0}, f32[<=8]{0})->(f32[4]{0}, f32[<=8]{0})}

ENTRY e {
  state = (f32[2,3]{0,1}, f32[4]{0}) parameter(0), sharding={{devices=[2,1]<=[2]}, {replicated}}, metadata={op_name="state"}
  b = f32[4]{0} parameter(1), metadata={op_name="p['b']"}
  x = f32[<=8]{0} parameter(2)
  old = f32[4]{0} get-tuple-element(state), index=1
  new = f32[4]{0} add(old, b)
  y = f32[<=8]{0} negate(x)
  ROOT out = (f32[4]{0}, f32[<=8]{0}) tuple(new, y)
}
`

func compile(t testing.TB, text string, o halo.Options) *halo.Program {
	t.Helper()
	m, err := halo.LoadBytes("test.hlo", []byte(text))
	require.NoError(t, err)
	p, err := halo.Compile(t.Context(), m, o)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func array[E hlo.Element](t testing.TB, values []E, dims ...int64) *hlo.Literal {
	t.Helper()
	l, err := halo.Array(values, dims...)
	require.NoError(t, err)
	return l
}

// TestLoad reads one module from everywhere, in several forms.
func TestLoad(t *testing.T) {
	text, err := os.ReadFile("testdata/run/saxpy.hlo")
	require.NoError(t, err)
	m, err := halo.LoadBytes("saxpy.hlo", text)
	require.NoError(t, err)
	want := printer.String(m.HLO())
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, err = w.Write(proto.Encode(m.HLO()))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	same := func(m halo.Module, err error) {
		t.Helper()
		require.NoError(t, err)
		assert.Equal(t, want, printer.String(m.HLO()))
	}
	same(halo.Load("testdata/run/saxpy.hlo"))
	same(halo.LoadFS(os.DirFS("testdata/run"), "saxpy.hlo"))
	same(halo.LoadReader("in", bytes.NewReader(zipped.Bytes())))
	for _, n := range []int{9, 10, 13, 32} { // as long as the codes of white space
		named := strings.Replace(string(text), "HloModule saxpy", "HloModule "+strings.Repeat("n", n), 1)
		m, err := parser.Parse("", named)
		require.NoError(t, err)
		_, err = halo.LoadBytes("module", proto.Encode(m))
		assert.NoError(t, err, n)
	}

	_, err = halo.Load("testdata/run/none.hlo")
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = halo.LoadFS(fstest.MapFS{}, "none.hlo")
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = halo.LoadBytes("x", []byte("ENTRY e {"))
	assert.ErrorAs(t, err, new(parser.ErrorList))
	_, err = halo.LoadBytes("x", []byte("\x0b\xef"))
	assert.ErrorAs(t, err, new(*source.KindError))
	_, err = halo.LoadBytes("x", []byte("ENTRY e { p = f32[2] parameter(0) ROOT q = f32[3] negate(p) }"))
	assert.ErrorAs(t, err, new(verifier.ErrorList))
}

// TestSignature describes the same program before and after it was saved.
func TestSignature(t *testing.T) {
	p := compile(t, step, halo.Options{Threads: 1})
	shape := func(text string) hlo.Shape {
		s, err := parser.ParseShape(text)
		require.NoError(t, err)
		return s
	}
	want := &halo.Signature{
		Parameters: []halo.Value{
			{Name: "state{0}", Shape: shape("f32[2,3]{0,1}"), Sharding: "{devices=[2,1]<=[2]}"},
			{Name: "state{1}", Shape: shape("f32[4]{0}"), Donated: true, Sharding: "{replicated}"},
			{Name: "p['b']", Shape: shape("f32[4]{0}"), Donated: true},
			{Name: "x", Shape: shape("f32[<=8]{0}")},
		},
		Results: []halo.Value{{Name: "out{0}", Shape: shape("f32[4]{0}")}, {Name: "out{1}", Shape: shape("f32[<=8]{0}")}},
		Aliases: []halo.Alias{{Parameter: 1, Result: 0, Must: true}}, Replicas: 1, Partitions: 1,
	}
	assert.Equal(t, fmt.Sprintf("%+v", *want), fmt.Sprintf("%+v", *p.Signature()))
	assert.Equal(t, "(state{0} f32[2,3], state{1} f32[4], p['b'] f32[4], x f32[<=8]) -> (out{0} f32[4], out{1} f32[<=8])", p.Signature().String())
	var file bytes.Buffer
	require.NoError(t, p.Save(&file))
	again, err := halo.LoadProgramFS(fstest.MapFS{"step.bef": {Data: file.Bytes()}}, "step.bef", halo.Options{})
	require.NoError(t, err)
	defer again.Close()
	assert.Equal(t, fmt.Sprintf("%+v", *want), fmt.Sprintf("%+v", *again.Signature()))
	raw, err := bef.Decode(file.Bytes(), bef.DecodeOptions{})
	require.NoError(t, err)
	said, err := packed.Unpack(raw.Extension(bef.SignatureSection))
	require.NoError(t, err)
	assert.Contains(t, string(said), `"layout":[0,1]`)
	for _, twice := range []string{"aliases", `"dims":[4]`, "dynamic"} {
		assert.NotContains(t, string(said), twice, "what the metadata says is not said again")
	}

	many := compile(t, strings.ReplaceAll(sum, "m\n", "m, replica_count=2, num_partitions=3\n"), halo.Options{Threads: 1})
	assert.Equal(t, 2, many.Signature().Replicas)
	assert.Equal(t, 3, many.Signature().Partitions)
}

const sum = `HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT sum = f32[] add(a, b) }
ENTRY main { x = f32[2] parameter(0)  ROOT all = f32[2] all-reduce(x), to_apply=add }`

// TestEngines runs the program on both engines and from its saved form, with results in the caller's memory and without.
func TestEngines(t *testing.T) {
	p := compile(t, step, halo.Options{Threads: 1})
	var file bytes.Buffer
	require.NoError(t, p.Save(&file))
	path := filepath.Join(t.TempDir(), "step.bef")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o666))
	saved, err := halo.LoadProgram(path, halo.Options{})
	require.NoError(t, err)
	defer saved.Close()
	evaluated := compile(t, step, halo.Options{Engine: halo.Eval})
	assert.Error(t, evaluated.Save(&file))
	assert.Nil(t, evaluated.Runtime())
	for name, p := range map[string]*halo.Program{"bef": p, "saved": saved, "eval": evaluated} {
		t.Run(name, func(t *testing.T) {
			args := []*hlo.Literal{
				array(t, make([]float32, 6), 2, 3), array(t, []float32{1, 2, 3, 4}), array(t, []float32{10, 20, 30, 40}), array(t, []float32{5, 6}),
			}
			out, err := p.Run(t.Context(), args...)
			require.NoError(t, err)
			assert.Equal(t, []float32{11, 22, 33, 44}, hlo.Values[float32](out[0]))
			assert.Equal(t, []float32{-5, -6}, hlo.Values[float32](out[1]))

			mine := make([]float32, 4)
			out, err = p.RunInto(t.Context(), []*hlo.Literal{array(t, mine), nil}, args...)
			require.NoError(t, err)
			assert.Equal(t, []float32{11, 22, 33, 44}, mine)
			assert.Same(t, &mine[0], &hlo.Values[float32](out[0])[0])

			state := []float32{1, 2, 3, 4} // written over, as the alias allows
			args[1] = array(t, state)
			_, err = p.RunInto(t.Context(), []*hlo.Literal{args[1], nil}, args...)
			require.NoError(t, err)
			assert.Equal(t, []float32{11, 22, 33, 44}, state)
		})
	}
}

// TestArguments has every argument that does not fit.
func TestArguments(t *testing.T) {
	shared := make([]float32, 8)
	good := func() []*hlo.Literal {
		return []*hlo.Literal{array(t, make([]float32, 6), 2, 3), array(t, shared[:4]), array(t, shared[4:]), array(t, make([]float32, 8))}
	}
	memory := func() []*hlo.Literal { return []*hlo.Literal{nil, nil} }
	for _, engine := range []halo.Engine{halo.BEF, halo.Eval} {
		p := compile(t, step, halo.Options{Engine: engine})
		for _, c := range []struct {
			change func(args, results []*hlo.Literal)
			want   string
		}{
			{func(args, _ []*hlo.Literal) { args[2] = nil }, "halo: parameter 2, p['b']: got nil, want f32[4]"},
			{func(args, _ []*hlo.Literal) { args[2] = array(t, []float32{1, 2}) }, "halo: parameter 2, p['b']: got f32[2], want f32[4]"},
			{func(args, _ []*hlo.Literal) { args[2] = array(t, []int32{1, 2, 3, 4}) }, "halo: parameter 2, p['b']: got s32[4], want f32[4]"},
			{func(args, _ []*hlo.Literal) { args[0] = hlo.NewTupleLiteral(args[1]) }, "halo: parameter 0, state{0}: got (f32[4]), want f32[2,3]"},
			{func(args, _ []*hlo.Literal) { args[3] = array(t, make([]float32, 9)) }, "halo: parameter 3, x: got f32[9], want f32[<=8]"},
			{func(args, _ []*hlo.Literal) { args[1] = hlo.NewElidedLiteral(hlo.MakeShape(hlo.F32, 4)) },
				"halo: parameter 1, state{1}: got a literal whose value was left out, want f32[4]"},
			{func(_, results []*hlo.Literal) { results[0] = array(t, []float32{1}) }, "halo: result 0, out{0}: got f32[1], want f32[4]"},
			{func(args, results []*hlo.Literal) { results[0] = args[2] },
				"halo: result 0, out{0}: its memory is that of parameter 2, p['b'], which the program does not write over"},
			{func(args, results []*hlo.Literal) { results[0] = array(t, shared[3:7]) },
				"halo: result 0, out{0}: its memory is that of parameter 2, p['b'], which the program does not write over"},
		} {
			args, results := good(), memory()
			c.change(args, results)
			_, err := p.RunInto(t.Context(), results, args...)
			assert.EqualError(t, err, c.want)
			assert.ErrorAs(t, err, new(*halo.ArgumentError))
		}
		_, err := p.Run(t.Context(), good()[:1]...)
		assert.EqualError(t, err, "halo: arguments: got 1, want 4: state{0} f32[2,3], state{1} f32[4], p['b'] f32[4], x f32[<=8]")
		_, err = p.RunInto(t.Context(), memory()[:1], good()...)
		assert.EqualError(t, err, "halo: memory for results: got 1, want 2")
		_, err = p.RunDevices(t.Context(), 2, 2, [][]*hlo.Literal{good()})
		assert.EqualError(t, err, "halo: arguments for devices: got 1, want 2×2")
		_, err = p.RunDevices(t.Context(), -1, 0, nil)
		assert.EqualError(t, err, "halo: arguments for devices: got 0, want -1×0")
		bad := good()
		bad[1] = nil
		_, err = p.RunDevices(t.Context(), 1, 2, [][]*hlo.Literal{good(), bad})
		assert.EqualError(t, err, "halo: device 1: parameter 1, state{1}: got nil, want f32[4]")
	}
}

// TestMemoryOfTwoResults refuses one piece of memory for two results.
func TestMemoryOfTwoResults(t *testing.T) {
	p := compile(t, "ENTRY e { p = f32[2] parameter(0) n = f32[2] negate(p) a = f32[2] abs(p) ROOT t = (f32[2], f32[2]) tuple(n, a) }", halo.Options{})
	mine := array(t, make([]float32, 2))
	_, err := p.RunInto(t.Context(), []*hlo.Literal{mine, mine}, array(t, []float32{1, -2}))
	assert.EqualError(t, err, "halo: result 1, t{1}: its memory is that of result 0")
}

// TestClosed runs programs while they are closed, and afterwards.
func TestClosed(t *testing.T) {
	for _, engine := range []halo.Engine{halo.BEF, halo.Eval} {
		p := compile(t, "ENTRY e { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }", halo.Options{Engine: engine, Threads: 2})
		x := array(t, []float32{1, 2})
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for {
					out, err := p.Run(t.Context(), x)
					if err != nil {
						assert.ErrorIs(t, err, halo.ErrClosed)
						return
					}
					assert.Equal(t, []float32{-1, -2}, hlo.Values[float32](out[0]))
				}
			})
		}
		p.Close()
		p.Close()
		wait.Wait()
		_, err := p.RunDevices(t.Context(), 1, 1, [][]*hlo.Literal{{x}})
		assert.ErrorIs(t, err, halo.ErrClosed)
	}
}

// TestLoopState: the arguments and results of what a program calls lie in its own memory, so a loop needs no more than its state.
func TestLoopState(t *testing.T) {
	const text = `c { s = (s32[], f32[512,512]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(9) ROOT lt = pred[] compare(i, n), direction=LT }
b { s = (s32[], f32[512,512]) parameter(0) i = s32[] get-tuple-element(s), index=0 w = f32[512,512] get-tuple-element(s), index=1
k = s32[] constant(3) j = s32[] add(i, k) ROOT t = (s32[], f32[512,512]) tuple(j, w) }
ENTRY e { w = f32[512,512] parameter(0) i = s32[] parameter(1) s = (s32[], f32[512,512]) tuple(i, w)
l = (s32[], f32[512,512]) while(s), condition=c, body=b ROOT r = s32[] get-tuple-element(l), index=0 }`
	m, err := halo.LoadBytes("m", []byte(text))
	require.NoError(t, err)
	const weights = 512 * 512 * 4
	p, err := halo.Compile(t.Context(), m, halo.Options{Passes: "dce", MaxBytes: weights * 3 / 2})
	require.NoError(t, err)
	p.Close()
	_, err = halo.Compile(t.Context(), m, halo.Options{Passes: "dce", MaxBytes: weights / 2})
	assert.ErrorContains(t, err, "the limit is")
}

// TestOptions has every option that is wrong, and each that can be seen to work.
func TestOptions(t *testing.T) {
	const text = `lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
ENTRY e { p = f32[1000] parameter(0) ROOT n = f32[1000] sort(p), dimensions={0}, to_apply=lt }`
	m, err := halo.LoadBytes("m", []byte(text))
	require.NoError(t, err)
	for want, o := range map[string]halo.Options{
		`got engine "gpu", want "bef" or "eval"`: {Engine: "gpu"},
		"got -1 threads":                         {Threads: -1},
		"negative limit":                         {MaxBytes: -1},
		"nosuch":                                 {Passes: "nosuch"},
		"bytes":                                  {MaxBytes: 100},
	} {
		_, err := halo.Compile(t.Context(), m, o)
		assert.ErrorContains(t, err, want)
	}
	_, err = halo.Compile(t.Context(), halo.Module{}, halo.Options{})
	assert.ErrorContains(t, err, "want a module")
	_, err = halo.Compile(t.Context(), hlo.Module{}, halo.Options{})
	assert.ErrorContains(t, err, "want a module")
	_, err = halo.LoadProgramBytes("m", nil, halo.Options{Engine: halo.Eval})
	assert.ErrorContains(t, err, "runs on the engine")
	_, err = halo.LoadProgramBytes("m", []byte(text), halo.Options{})
	assert.ErrorContains(t, err, "m: error: ")

	broken, err := parser.Parse("m", "ENTRY e { p = f32[2] parameter(0) ROOT q = f32[3] negate(p) }")
	require.NoError(t, err)
	_, err = halo.Compile(t.Context(), broken, halo.Options{})
	assert.ErrorAs(t, err, new(verifier.ErrorList), "modules that are not known to be verified are verified")

	x := array(t, make([]float32, 1000))
	queue := workqueue.NewMulti(workqueue.Config{Workers: 1})
	defer queue.Close()
	var memory counting
	shared := halo.Options{Queue: queue, Allocator: &memory}
	for range 2 { // closing one leaves the queue to the other
		p, err := halo.Compile(t.Context(), m, shared)
		require.NoError(t, err)
		_, err = p.Run(t.Context(), x)
		require.NoError(t, err)
		p.Close()
	}
	assert.Positive(t, memory.n)

	var kernels tracer
	p, err := halo.Compile(t.Context(), m, halo.Options{Observer: halo.Observer{Kernels: &kernels}})
	require.NoError(t, err)
	defer p.Close()
	_, err = p.Run(t.Context(), x)
	require.NoError(t, err)
	assert.Contains(t, strings.Join(kernels.names, "\n"), "hlo.sort ")

	var values []string
	q, err := halo.Compile(t.Context(), m, halo.Options{Engine: halo.Eval, Observer: halo.Observer{Values: func(in hlo.Instruction, _ *hlo.Literal) {
		if in.Computation() == m.Entry() {
			values = append(values, in.Name())
		}
	}}})
	require.NoError(t, err)
	_, err = q.Run(t.Context(), x)
	require.NoError(t, err)
	assert.Equal(t, []string{"p", "n"}, values)
	r, err := halo.Compile(t.Context(), m, halo.Options{Engine: halo.Eval, MaxSteps: 1})
	require.NoError(t, err)
	_, err = r.Run(t.Context(), x)
	assert.ErrorContains(t, err, "budget")
}

type counting struct {
	runtime.HeapAllocator
	n int
}

func (c *counting) Allocate(size, align int64) ([]byte, error) {
	c.n++
	return c.HeapAllocator.Allocate(size, align)
}

type tracer struct {
	mu    sync.Mutex
	names []string
}

func (t *tracer) Begin(_ int, _, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = append(t.names, name)
}

func (t *tracer) End(int, string, string) {}

func TestArray(t *testing.T) {
	assert.Equal(t, "f32[]", halo.Scalar(float32(1)).Shape().WithoutLayout().String())
	assert.Equal(t, "pred[2,1]", array(t, []bool{true, false}, 2, 1).Shape().WithoutLayout().String())
	assert.Equal(t, "c128[0]", array(t, []complex128(nil)).Shape().WithoutLayout().String())
	_, err := halo.Array([]float32{1}, 2)
	assert.EqualError(t, err, "halo: got 1 elements, want 2 for f32[2]")
	_, err = halo.Array([]float32{1}, -1, -1)
	assert.EqualError(t, err, "halo: got dimensions [-1 -1], want none below 0")
	_, err = halo.Array([]float32{1}, 1<<62, 1<<62)
	assert.Error(t, err)
}

// FuzzLoadProgram reads programs that are not what was saved.
func FuzzLoadProgram(f *testing.F) {
	m, err := halo.LoadBytes("step.hlo", []byte(step))
	require.NoError(f, err)
	p, err := halo.Compile(context.Background(), m, halo.Options{Threads: 1})
	require.NoError(f, err)
	defer p.Close()
	var file bytes.Buffer
	require.NoError(f, p.Save(&file))
	f.Add(0, byte(0))
	at := bytes.Index(file.Bytes(), []byte(`"dims"`))
	for i := range 20 {
		f.Add(at+i, byte('9'))
	}
	f.Fuzz(func(t *testing.T, at int, b byte) {
		data := bytes.Clone(file.Bytes())
		if at < 0 || at >= len(data) {
			return
		}
		data[at] = b
		if p, err := halo.LoadProgramBytes("x", data, halo.Options{Threads: 1, MaxBytes: 1 << 20}); err == nil {
			p.Close()
		}
	})
}
