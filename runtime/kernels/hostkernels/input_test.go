package hostkernels

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
)

func TestFormatInt(t *testing.T) {
	for _, c := range []struct {
		format string
		x      int32
		want   string
	}{
		{"plain", 1, "plain"},
		{"%d", -5, "-5"},
		{"%i", 5, "5"},
		{"%u", -1, "4294967295"},
		{"%x %%", 255, "ff %"},
		{"%#X", 255, "0XFF"},
		{"%o", 8, "10"},
		{"%c", 'A', "A"},
		{"%5d|", 42, "   42|"},
		{"%-5d|", 42, "42   |"},
		{"%+.3d", 42, "+042"},
	} {
		got, err := formatInt(c.format, c.x)
		assert.NoError(t, err, c.format)
		assert.Equal(t, c.want, got, c.format)
	}
	for _, format := range []string{"%", "%s", "%d %d", "%n", "%1234567d", "%*d"} {
		_, err := formatInt(format, 1)
		assert.Error(t, err, format)
	}
}

func FuzzFormatInt(f *testing.F) {
	f.Add("%5d of %%", int32(3))
	f.Fuzz(func(t *testing.T, format string, x int32) {
		s, err := formatInt(format, x)
		if err == nil && len(s) > len(format)+1_000_000 {
			t.Errorf("%d bytes from %q", len(s), format)
		}
	})
}

// FuzzBTF holds the reader of tensor files to errors, whatever is in the file, and to giving back what it takes.
func FuzzBTF(f *testing.F) {
	data, err := os.ReadFile("testdata/tensors.btf")
	require.NoError(f, err)
	f.Add(data, int32(0))
	f.Add(data, int32(1))
	f.Add(data[:70], int32(0))
	path := filepath.Join(f.TempDir(), "t.btf")
	f.Fuzz(func(t *testing.T, data []byte, index int32) {
		require.NoError(t, os.WriteFile(path, data, 0o666))
		memory := &runtime.ProfileAllocator{Base: runtime.NewHeapAllocator()}
		host := runtime.NewHost(runtime.HostOptions{Allocator: memory})
		req := runtime.NewRequest(t.Context(), host, runtime.RequestOptions{})
		defer req.Close()
		for rank := range 3 {
			r := btfReader{ctx: req.NewExecContext(), path: path, elem: elemNamed("f32"), rank: rank}
			if tensor, err := r.read(index); err == nil {
				tensor.DropRef()
			}
		}
		assert.Empty(t, memory.Leak())
	})
}

func TestLocationNames(t *testing.T) {
	l := newLocationNames()
	require.NoError(t, l.claim(7, "a"))
	require.NoError(t, l.claim(7, "a"))
	require.NoError(t, l.claim(8, "b"))
	assert.EqualError(t, l.claim(7, "b"), "duplicate locations 7")
}

func TestFormatFloat(t *testing.T) {
	assert.Equal(t, "1.500000", FormatFloat('f', 1.5))
	assert.Equal(t, "1.500000e+00", FormatFloat('e', 1.5))
	assert.Equal(t, "inf -inf nan -nan", fmt.Sprint(FormatFloat('f', math.Inf(1)), " ", FormatFloat('e', math.Inf(-1)), " ", FormatFloat('f', math.NaN()), " ", FormatFloat('e', math.Copysign(math.NaN(), -1))))
}

func TestTruncate(t *testing.T) {
	assert.EqualValues(t, -1, truncate(-1.99))
	assert.EqualValues(t, math.MaxInt64, truncate(0x1p63))
	assert.EqualValues(t, math.MinInt64, truncate(-0x1p63))
	assert.EqualValues(t, math.MinInt64, truncate(math.Inf(-1)))
	assert.EqualValues(t, 0, truncate(math.NaN()))
}

// Constants are read as a kernel's type wants them if that loses nothing.
func TestConvert(t *testing.T) {
	i32, i64, ui8, truth := elemNamed("i32"), elemNamed("i64"), elemNamed("ui8"), elemNamed("bool")
	for _, c := range []struct {
		to, from *elem
		x        uint64
		ok       bool
	}{
		{i32, i64, 5, true},
		{i32, i64, math.MaxUint64, true}, // -1
		{i32, i64, 1 << 31, false},
		{i64, i32, 0xffffffff, true},
		{ui8, i64, 255, true},
		{ui8, i64, 256, false},
		{ui8, i64, math.MaxUint64, false},
		{truth, i64, 1, true},
		{truth, i64, 2, false},
		{elemNamed("f32"), i64, 1, false},
		{elemNamed("complex64"), elemNamed("f32"), 1, true},
		{elemNamed("complex64"), elemNamed("f64"), 1, false},
	} {
		from := make([]byte, c.from.size)
		c.from.put(from, c.x)
		err := c.to.convert(make([]byte, c.to.size), c.from, from)
		assert.Equal(t, c.ok, err == nil, "%s from %s %x: %v", c.to.name, c.from.name, c.x, err)
	}
}
