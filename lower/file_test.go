package lower_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/packed"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/verifier"
)

// TestFilesLoad lowers programs, writes and reads the files, and loads these: whatever passes make of a verified module is verified
// again. Small ones are run, too, and give the bytes that the program gives that never was a file.
func TestFilesLoad(t *testing.T) {
	var files []string
	for _, root := range []string{"../testdata/run", "../../shared/corpus/hlo"} {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".hlo") {
				if info, err := d.Info(); err == nil && info.Size() < 200_000 {
					files = append(files, path)
				}
			}
			return nil
		})
	}
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	pipeline, err := passes.Parse("cpu")
	require.NoError(t, err)
	loaded, ran := 0, 0
	for _, path := range files {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		m, err := parser.Parse(path, string(data))
		if err != nil || verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err() != nil {
			continue
		}
		if m, err = (&pass.Runner{}).Run(t.Context(), pipeline, m); err != nil {
			continue
		}
		file, err := lower.Module(t.Context(), m)
		if err != nil {
			continue
		}
		here, err := runtime.Load(file, reg, runtime.LoadOptions{})
		if err != nil {
			continue // a custom-call, say
		}
		there, err := runtime.Load(throughBytes(t, file), reg, runtime.LoadOptions{})
		if !assert.NoError(t, err, path) {
			continue
		}
		loaded++
		if m.NumInstructions() < 400 && here.Entry().ArenaBytes() < 1<<20 && runBoth(t, path, here, there) {
			ran++
		}
	}
	t.Logf("%d of %d programs load, %d run", loaded, len(files), ran)
	require.Positive(t, ran)
}

func throughBytes(t testing.TB, file *bef.File) *bef.File {
	data, err := bef.Marshal(file, bef.EncodeOptions{Extensions: true})
	require.NoError(t, err)
	back, err := bef.Decode(data, bef.DecodeOptions{})
	require.NoError(t, err)
	return back
}

// runBoth runs two programs on the same random bytes. It reports false for programs that need more than one device.
func runBoth(t *testing.T, path string, a, b *runtime.Program) bool {
	if kernels.NeedsMesh(a) {
		return false
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var args []runtime.Buffer
	for _, typ := range a.Entry().ArgTypes() {
		x := typ.NewBuffer()
		for i := range x.Data {
			x.Data[i] = byte(rng.Uint32() % 3)
			if hlo.PrimitiveType(typ.Type) == hlo.PRED {
				x.Data[i] %= 2
			}
		}
		args = append(args, x)
	}
	run := func(p *runtime.Program) ([]runtime.Buffer, error) {
		in := make([]runtime.Buffer, len(args))
		for i, x := range args {
			in[i] = runtime.Buffer{Data: append(runtime.AlignedBytes(int64(len(x.Data)))[:0], x.Data...), Type: x.Type, Dims: x.Dims}
		}
		out := p.Entry().NewResults()
		return out, p.Entry().Run(t.Context(), runtime.RunOptions{}, in, out)
	}
	want, err1 := run(a)
	got, err2 := run(b)
	if !assert.Equal(t, err1 == nil, err2 == nil, "%s: %v, %v", path, err1, err2) || err1 != nil {
		return false
	}
	for i := range want {
		assert.True(t, bytes.Equal(want[i].Data, got[i].Data), "%s: result %d", path, i)
	}
	return true
}

// TestConstantsAreWrittenOnce looks for the values of a constant in the file: they are in the constants section and nowhere else, unless
// a kernel applies the computation that they are in.
func TestConstantsAreWrittenOnce(t *testing.T) {
	value := strings.TrimSuffix(strings.Repeat("77,", 100), ",")
	for _, c := range []struct {
		text string
		want int
	}{
		{"ENTRY e { x = s32[100] parameter(0) c = s32[100] constant({V}) ROOT r = s32[100] add(x, c) }", 1},
		{"f { c = s32[100] constant({V}) x = s32[100] parameter(0) ROOT r = s32[100] add(x, c) }\n" +
			"ENTRY e { x = s32[100] parameter(0) ROOT r = s32[100] fusion(x), kind=kLoop, calls=f }", 1},
	} {
		m, err := parser.Parse("test", "HloModule m\n"+strings.ReplaceAll(c.text, "V", value))
		require.NoError(t, err)
		file, err := lower.Module(t.Context(), m)
		require.NoError(t, err)
		data, err := bef.Marshal(file, bef.EncodeOptions{Extensions: true})
		require.NoError(t, err)
		inConstants := bytes.Count(data, bytes.Repeat([]byte{77, 0, 0, 0}, 100))
		module, err := packed.Unpack(file.Extension(bef.ModuleSection))
		require.NoError(t, err)
		inModule := bytes.Count(module, bytes.Repeat([]byte{77}, 100)) // as varints
		assert.Equal(t, c.want, inConstants+inModule, c.text)
	}
}
