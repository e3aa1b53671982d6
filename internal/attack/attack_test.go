//go:build unix

package attack

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// seeds are the texts that mutants are made of: small programs of every op.
func seeds(t testing.TB) (texts []string) {
	files, err := filepath.Glob("../../testdata/run/*.hlo")
	require.NoError(t, err)
	more, err := filepath.Glob("testdata/*.hlo")
	require.NoError(t, err)
	for _, f := range append(files, more...) {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		if len(data) < 4000 {
			texts = append(texts, string(data))
		}
	}
	for seed := range uint64(60) {
		if m, err := hlotest.Kernels(seed, 1+int(seed%3)); err == nil {
			texts = append(texts, printer.String(m))
		}
		if m, err := hlotest.Wide(seed, 6); err == nil {
			texts = append(texts, printer.String(m))
		}
	}
	require.NotEmpty(t, texts)
	return texts
}

// files are the seeds as files, with the module section decompressed so that mutants of it are read.
func files(t testing.TB) (all [][]byte, modules [][]byte) {
	target, err := newTarget()
	require.NoError(t, err)
	for _, text := range seeds(t) {
		m, err := parser.Parse("seed", text)
		if err != nil {
			continue
		}
		if m, err = (&pass.Runner{}).Run(t.Context(), target.cpu, m); err != nil {
			continue
		}
		f, err := lower.Module(t.Context(), m)
		if err != nil {
			continue
		}
		for i := range f.Extensions { // a changed byte of a compressed section is a checksum that is wrong
			f.Extensions[i].Packs = false
		}
		data, err := bef.Marshal(f, bef.EncodeOptions{Extensions: true})
		require.NoError(t, err)
		all, modules = append(all, data), append(modules, f.Extension(runtime.SectionModule))
	}
	require.NotEmpty(t, all)
	return all, modules
}

func TestFiles(t *testing.T) {
	target, err := newTarget()
	require.NoError(t, err)
	all, _ := files(t)
	Campaign(t, 4000, func(seed uint64) (Fate, error) {
		rng := rand.New(rand.NewPCG(seed, 2))
		return target.File(Bytes(rng, all[rng.IntN(len(all))]), seed)
	})
}

// TestFilesModules changes what the instructions of files say: numbers of their messages, or attributes, operands, opcodes and shapes such that
// the module verifies, while the plan of the file stays as it was.
func TestFilesModules(t *testing.T) {
	target, err := newTarget()
	require.NoError(t, err)
	all, modules := files(t)
	Campaign(t, 8000, func(seed uint64) (Fate, error) {
		rng := rand.New(rand.NewPCG(seed, 3))
		i := rng.IntN(len(all))
		if rng.IntN(2) == 0 {
			return target.File(otherModule(t, rng, all[i], modules[i]), seed)
		}
		at := bytes.Index(all[i], modules[i])
		b := bytes.Clone(all[i])
		copy(b[at:], message(rng, modules[i]))
		return target.File(b, seed)
	})
}

// otherModule is a file with a mutant of its module.
func otherModule(t *testing.T, rng *rand.Rand, file, module []byte) []byte {
	p, err := proto.DecodeProgram(module)
	require.NoError(t, err)
	f, err := bef.Decode(file, bef.DecodeOptions{})
	require.NoError(t, err)
	for i := range f.Extensions {
		if f.Extensions[i].ID == runtime.SectionModule {
			f.Extensions[i] = bef.Section{ID: runtime.SectionModule, Data: proto.NewProgram(Module(rng, p.Module())).Encode()}
		}
	}
	b, err := bef.Marshal(f, bef.EncodeOptions{Extensions: true})
	require.NoError(t, err)
	return b
}

func TestTexts(t *testing.T) {
	target, err := newTarget()
	require.NoError(t, err)
	texts := seeds(t)
	Campaign(t, 4000, func(seed uint64) (Fate, error) {
		rng := rand.New(rand.NewPCG(seed, 4))
		return target.Text(Text(rng, texts[rng.IntN(len(texts))]), seed)
	})
}

func TestMessages(t *testing.T) {
	target, err := newTarget()
	require.NoError(t, err)
	var messages [][]byte
	for _, text := range seeds(t) {
		if m, err := parser.Parse("seed", text); err == nil {
			messages = append(messages, proto.Encode(m))
		}
	}
	Campaign(t, 4000, func(seed uint64) (Fate, error) {
		rng := rand.New(rand.NewPCG(seed, 5))
		return target.Message(message(rng, messages[rng.IntN(len(messages))]), seed)
	})
}

// TestFindings tries what has been found so far.
func TestFindings(t *testing.T) {
	target, err := newTarget()
	require.NoError(t, err)
	paths, err := filepath.Glob("testdata/findings/*")
	require.NoError(t, err)
	shared, _ := filepath.Glob("../../../shared/corpus/hostile/*")
	for _, path := range append(paths, shared...) {
		if strings.HasPrefix(filepath.Base(path), "callbomb") {
			continue // running it takes for ever by right
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		t.Run(filepath.Base(path), func(t *testing.T) {
			switch filepath.Ext(path) {
			case ".bef":
				_, err = target.File(data, 1)
			case ".hlo":
				_, err = target.Text(string(data), 1)
			case ".pb":
				_, err = target.Message(data, 1)
			}
			require.NoError(t, err)
		})
	}
}

// TestGuard holds the guards to their promise: a byte before or behind a buffer, in its pages and beyond.
func TestGuard(t *testing.T) {
	for _, at := range []int{-1, -64, 100, 127} {
		g := &Guard{}
		b, err := g.Allocate(100, 64)
		require.NoError(t, err)
		*(*byte)(unsafe.Add(unsafe.Pointer(&b[0]), at)) = 1
		g.Deallocate(b)
		require.Len(t, g.Close(), 1, at)
	}
	for _, at := range []int{-2 * int(page), 128, 128 + int(page) - 1} {
		g := &Guard{}
		b, err := g.Allocate(100, 64)
		require.NoError(t, err)
		require.Error(t, faults(func() { *(*byte)(unsafe.Add(unsafe.Pointer(&b[0]), at)) = 1 }), at)
		require.Empty(t, g.Close())
	}
	g := &Guard{}
	data, err := g.Data([]byte("constant"))
	require.NoError(t, err)
	require.Error(t, faults(func() { data[0] = 1 }))
	require.Equal(t, "constant", string(data))
	g.Close()
}

// faults runs f and returns the fault that it ends with.
func faults(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}
