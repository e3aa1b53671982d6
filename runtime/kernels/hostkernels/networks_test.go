package hostkernels_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// network is a program in two languages, loaded on one host. The host program may call the HLO one, as native function "network".
type network struct {
	host   *runtime.Host
	memory *runtime.ProfileAllocator
	hlo    *runtime.Function
	args   []runtime.Buffer
	reg    *runtime.Registry
}

func loadNetwork(t *testing.T, queue, text string) *network {
	m, err := parser.Parse("network", text)
	require.NoError(t, err)
	cpu, err := passes.Parse("cpu")
	require.NoError(t, err)
	m, err = (&pass.Runner{}).Run(t.Context(), cpu, m)
	require.NoError(t, err)
	file, err := lower.Module(t.Context(), m)
	require.NoError(t, err)
	q, err := workqueue.New(queue)
	require.NoError(t, err)
	t.Cleanup(q.Close)
	n := &network{memory: &runtime.ProfileAllocator{Base: runtime.NewHeapAllocator()}, reg: runtime.NewRegistry()}
	n.host = runtime.NewHost(runtime.HostOptions{Queue: q, Allocator: n.memory})
	p, err := runtime.Load(file, newRegistry(), runtime.LoadOptions{Host: n.host})
	require.NoError(t, err)
	n.hlo = p.Entry()
	hostkernels.Register(n.reg)
	kernels.Register(n.reg)
	n.reg.Native("network", n.hlo.AsKernel())
	rng := rand.New(rand.NewPCG(1, 2))
	for _, typ := range n.hlo.ArgTypes() {
		b := typ.NewBuffer()
		for i := 0; i < len(b.Data); i += 4 {
			binary.LittleEndian.PutUint32(b.Data[i:], math.Float32bits(rng.Float32()-0.3))
		}
		n.args = append(n.args, b)
	}
	return n
}

func newRegistry() *runtime.Registry {
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	return reg
}

// want is what the HLO program says.
func (n *network) want(t *testing.T) []byte {
	results := n.hlo.NewResults()
	require.NoError(t, n.hlo.Run(t.Context(), runtime.RunOptions{}, n.args, results))
	return results[0].Data
}

// execute runs a host program on the network's arguments.
func (n *network) execute(t *testing.T, file *bef.File) []byte {
	p, err := runtime.Load(file, n.reg, runtime.LoadOptions{Host: n.host})
	require.NoError(t, err)
	req := runtime.NewRequest(t.Context(), n.host, runtime.RequestOptions{})
	defer req.Close()
	args := make([]*async.Value, len(n.args))
	for i, b := range n.args {
		buf, err := runtime.NewHostBuffer(n.memory, int64(len(b.Data)), runtime.BufferAlign)
		require.NoError(t, err)
		copy(buf.Data(), b.Data)
		d, err := hostkernels.NewDense(bef.F32, b.Dims, buf)
		require.NoError(t, err)
		args[i] = async.MakeAvailable(d).Value()
	}
	results := make([]*async.Value, 1)
	require.NoError(t, p.Function("main").ExecuteByValue(req.NewExecContext(), args, results))
	require.NoError(t, n.host.Queue().Await(t.Context(), results...))
	n.host.Quiesce()
	require.NoError(t, results[0].Err())
	data := append([]byte(nil), async.Get[*hostkernels.Dense](results[0]).Data()...)
	results[0].DropRef()
	return data
}

func floats(b []byte) []float32 {
	r := make([]float32, len(b)/4)
	for i := range r {
		r[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return r
}

// TestNetworks runs a perceptron of MNIST's size and a small convolution network as host programs on dense tensors, and holds them against
// the same networks in HLO.
func TestNetworks(t *testing.T) {
	async.CheckLeaks(t)
	ar, err := txtar.ParseFile(filepath.Join("testdata", "networks", "networks.txtar"))
	require.NoError(t, err)
	text := make(map[string]string)
	for _, f := range ar.Files {
		text[f.Name] = string(f.Data)
	}
	for name := range text {
		name, isHLO := strings.CutSuffix(name, ".hlo")
		if !isHLO {
			continue
		}
		for _, queue := range []string{"single", "multi:2"} {
			t.Run(name+"/"+queue, func(t *testing.T) {
				n := loadNetwork(t, queue, text[name+".hlo"])
				want := floats(n.want(t))
				got := floats(n.execute(t, assemble(t, text[name+".mlir"])))
				assert.InDeltaSlice(t, want, got, 1e-4)
				assert.NotZero(t, want[0])
				n.hlo.Trim()
				assert.Empty(t, n.memory.Leak(), "nothing but what programs keep")
			})
		}
	}
}

// A host program calls a whole HLO program as one function, among others with an argument that comes late.
func TestHostProgramCallsHLO(t *testing.T) {
	async.CheckLeaks(t)
	for _, queue := range []string{"single", "multi:2"} {
		t.Run(queue, func(t *testing.T) {
			n := loadNetwork(t, queue, `HloModule m
ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  s = f32[2,3] add(x, y)
  ROOT m = f32[2,3] multiply(s, s)
}`)
			file := assemble(t, `func.func private @network(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> attributes {tfrt.native}
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %later = tfrt_test.do.async %y : (tensor<2x3xf32>) -> (tensor<2x3xf32>) {
    %z = "hlo.negate"(%y) {hlo = "f32[2,3] negate(f32[2,3])"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    tfrt.return %z : tensor<2x3xf32>
  }
  %back = "hlo.negate"(%later) {hlo = "f32[2,3] negate(f32[2,3])"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = tfrt.call @network(%x, %back) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  tfrt.return %r : tensor<2x3xf32>
}
`)
			assert.Equal(t, n.want(t), n.execute(t, file))
			n.hlo.Trim()
			assert.Empty(t, n.memory.Leak())
		})
	}
}

func TestTensorKernelsInHostProgramsRefuse(t *testing.T) {
	reg := newRegistry()
	hostkernels.Register(reg)
	for _, c := range []struct{ op, want string }{
		{`"hlo.negate"(%x) {hlo = "f32[2,3] negate(f32[2,3])"} : (tensor<2x3xf32>) -> !tfrt_tensor.tensor`, "which does not say a tensor's shape"},
		{`"hlo.negate"(%x) {hlo = "f32[2,4] negate(f32[2,4])"} : (tensor<2x3xf32>) -> tensor<2x4xf32>`, "operand leaf 0"},
		{`"hlo.negate"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>`, "needs a module section"},
	} {
		_, err := runtime.Load(assemble(t, "func.func @main(%x: tensor<2x3xf32>) {\n  %y = "+c.op+"\n  tfrt.return\n}\n"), reg, runtime.LoadOptions{})
		assert.ErrorContains(t, err, c.want)
	}
}
