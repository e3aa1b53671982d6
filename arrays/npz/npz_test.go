package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sbinet/npyio/npy"
	outside "github.com/sbinet/npyio/npz"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// values spells items as numbers, for tables of expectations.
func values(t *testing.T, a Array) string {
	var out []string
	for i := 0; i < len(a.Data); i += a.ItemSize {
		b := a.Data[i : i+a.ItemSize]
		f32 := func(b []byte) any { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
		var v any
		switch a.Descr {
		case "<f4":
			v = f32(b)
		case "<f8":
			v = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case "<c8":
			v = fmt.Sprint(f32(b), "+", f32(b[4:]), "i")
		case "<i4":
			v = int32(binary.LittleEndian.Uint32(b))
		case "<u2":
			v = binary.LittleEndian.Uint16(b)
		default:
			v = fmt.Sprintf("%x", b)
		}
		out = append(out, fmt.Sprint(v))
	}
	return strings.Join(out, " ")
}

// TestNumPy reads what NumPy and ml_dtypes have written.
func TestNumPy(t *testing.T) {
	for _, file := range []string{"numpy.npz", "numpy_compressed.npz"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		require.NoError(t, err)
		arrays, err := ReadNPZ(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		matrix, vector := []int64{2, 3}, func(n int64) []int64 { return []int64{n} }
		want := []struct {
			name, descr string
			shape       []int64
			values      string
			holds       string
		}{
			{"f32", "<f4", matrix, "0 1 2 3 4 5", "f32"},
			{"column-major", "<f4", matrix, "0 1 2 3 4 5", "f32"},
			{"big-endian", "<i4", matrix, "0 1 2 3 4 5", "s32"},
			{"big-endian-complex", "<c8", matrix, "0+10i 1+11i 2+12i 3+13i 4+14i 5+15i", "c64"},
			{"scalar", "<f8", []int64{}, "3.5", "f64"},
			{"empty", "<i8", []int64{2, 0, 3}, "", "s64"},
			{"pred", "|b1", vector(2), "01 00", "pred"},
			{"bf16", "|V2", matrix, "0000 803f 0040 4040 8040 a040", "bf16"},
			{"f8e5m2", "|f1", matrix, "00 3c 40 42 44 45", "f8e5m2"},
			{"f8e4m3fn", "|V1", matrix, "00 38 40 44 48 4a", "f8e4m3fn"},
			{"s4", "|V1", vector(4), "08 07 00 0f", "s4"},
			{"cube", "<u2", []int64{2, 3, 4}, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23", "u16"},
			{"f16", "<f2", matrix, "0000 003c 0040 0042 0044 0045", "f16"},
		}
		require.Len(t, arrays, len(want))
		for i, w := range want {
			a := arrays[i]
			assert.Equal(t, w.name, a.Name)
			assert.Equal(t, w.descr, a.Descr, w.name)
			assert.Equal(t, w.shape, a.Shape, w.name)
			assert.Equal(t, w.values, values(t, a.Array), w.name)
			assert.True(t, a.Holds(w.holds), w.name)
			assert.False(t, a.Holds("token"), w.name)
			assert.Equal(t, a.Elements()*int64(a.ItemSize), int64(len(a.Data)), w.name)
		}
	}
}

func sample() []Named {
	return []Named{
		{"0", Array{"<f4", 4, []int64{2, 1}, []byte{1, 2, 3, 4, 5, 6, 7, 8}}},
		{"d0/1", Array{"|V2", 2, nil, []byte{1, 2}}},
		{"2", Array{"|u1", 1, []int64{0, 7}, []byte{}}},
		{"3", Array{"<c16", 16, []int64{1, 1, 1}, bytes.Repeat([]byte{9}, 16)}},
		{"4", Array{"|b1", 1, []int64{3}, []byte{0, 1, 1}}},
	}
}

func TestRoundTrip(t *testing.T) {
	var file, again bytes.Buffer
	require.NoError(t, WriteNPZ(&file, sample()))
	require.NoError(t, WriteNPZ(&again, sample()))
	assert.Equal(t, file.Bytes(), again.Bytes())
	arrays, err := ReadNPZ(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	want := sample()
	want[1].Shape = []int64{}
	assert.Equal(t, want, arrays)

	for _, a := range want {
		var file bytes.Buffer
		require.NoError(t, WriteNPY(&file, a.Array))
		assert.Zero(t, (file.Len()-len(a.Data))%64, "alignment")
		file.WriteString("more")
		// A reader that knows its length, and one that does not.
		got, err := ReadNPY(bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		assert.Equal(t, a.Array, got)
		stream := io.LimitReader(&file, 1<<20)
		got, err = ReadNPY(iotest.OneByteReader(stream))
		require.NoError(t, err)
		assert.Equal(t, a.Array, got)
		rest, _ := io.ReadAll(stream)
		assert.Equal(t, "more", string(rest))
	}
}

// TestLong crosses the sizes at which reading proceeds in steps, and a header that needs version 2.
func TestLong(t *testing.T) {
	a := Array{"<u2", 2, []int64{3 << 20}, bytes.Repeat([]byte{1, 2, 3}, 2<<20)}
	var file bytes.Buffer
	require.NoError(t, WriteNPY(&file, a))
	got, err := ReadNPY(iotest.HalfReader(&file))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(a.Data, got.Data))

	shape := make([]int64, 21800)
	for i := range shape {
		shape[i] = 1
	}
	require.NoError(t, WriteNPY(&file, Array{Descr: "|u1", Shape: shape, Data: []byte{7}}))
	got, err = ReadNPY(&file)
	require.NoError(t, err)
	assert.Len(t, got.Shape, len(shape))
}

// TestExchange lets npyio read what is written here, and the other way round.
func TestExchange(t *testing.T) {
	var file bytes.Buffer
	floats := []float32{1, 2, 3, 4, 5, 6}
	data := make([]byte, 0, 24)
	for _, x := range floats {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	a := Array{"<f4", 4, []int64{2, 3}, data}
	require.NoError(t, WriteNPY(&file, a))
	r, err := npy.NewReader(&file)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 3}, r.Header.Descr.Shape)
	var got []float32
	require.NoError(t, r.Read(&got))
	assert.Equal(t, floats, got)

	file.Reset()
	require.NoError(t, WriteNPZ(&file, []Named{{"x", a}}))
	got = nil
	require.NoError(t, outside.Read(bytes.NewReader(file.Bytes()), "x.npy", &got))
	assert.Equal(t, floats, got)

	file.Reset()
	require.NoError(t, npy.Write(&file, floats))
	back, err := ReadNPY(&file)
	require.NoError(t, err)
	assert.Equal(t, Array{"<f4", 4, []int64{6}, data}, back)
}

func TestDescr(t *testing.T) {
	assert.Len(t, elements, 32)
	for name, items := range elements {
		descr, ok := Descr(name)
		require.True(t, ok)
		for _, item := range items {
			it, err := parseDescr(item)
			require.NoError(t, err)
			assert.Equal(t, item, it.String(), "in the form that readers return")
			assert.True(t, Array{Descr: item}.Holds(name))
		}
		assert.Equal(t, items[0], descr)
	}
	_, ok := Descr("token")
	assert.False(t, ok)
}

// file builds an npy file with the given dictionary.
func file(dictionary string, data ...byte) []byte {
	out := append([]byte(magic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(dictionary)))
	return append(append(out, dictionary...), data...)
}

func TestHeaders(t *testing.T) {
	for dictionary, want := range map[string][]int64{
		`{'descr': '|u1', 'fortran_order': False, 'shape': (), }`:       {},
		`{"shape":(1L,), "fortran_order":True,"descr":"<u1"}` + "  \n":  {1},
		`{'descr': '=u1', 'fortran_order': False, 'shape': (1, 1)}`:     {1, 1},
		`{'descr': '>u1', 'fortran_order': False, 'shape': (1, 1, ), }`: {1, 1},
	} {
		a, err := ReadNPY(bytes.NewReader(file(dictionary, 5)))
		require.NoError(t, err, dictionary)
		assert.Equal(t, want, a.Shape)
		assert.Equal(t, "|u1", a.Descr)
	}
}

func TestBadFiles(t *testing.T) {
	dictionary := func(descr, shape string) string {
		return fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }", descr, shape)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":       {nil, "unexpected EOF"},
		"not npy":     {[]byte("PK\x03\x04 and more of it"), "not an npy file"},
		"version":     {append([]byte(magic), 4, 0, 0, 0), "version 4.0"},
		"long header": {append([]byte(magic), 2, 0, 255, 255, 255, 255), "too long"},
		"cut header":  {append([]byte(magic), 1, 0, 255, 0), "unexpected EOF"},
		"no header":   {file(""), "unexpected token"},
		"object":      {file(dictionary("'|O'", "()")), "item description"},
		"object 8":    {file(dictionary("'|O8'", "()")), "not supported"},
		"string":      {file(dictionary("'<U4'", "()")), "not supported"},
		"f128":        {file(dictionary("'<f16'", "()")), "not supported"},
		"structured":  {file(dictionary("[('a', '<f4')]", "()")), "npy header"},
		"order":       {file(dictionary("'!f4'", "()")), "byte order"},
		"negative":    {file(dictionary("'<f4'", "(-1,)")), "invalid dimension -1"},
		"overflow":    {file(dictionary("'<f4'", "(4611686018427387904, 4)")), "too large"},
		"wraps":       {file(dictionary("'<f4'", "(4294967296, 4294967296, 4294967296)")), "too large"},
		"beyond":      {file(dictionary("'<f4'", "(99999999999999999999,)")), "invalid dimension"},
		"claim":       {file(dictionary("'<f4'", "(1000000000000,)")), "needs 4000000000000 bytes, but 0 are left"},
		"short":       {file(dictionary("'<f4'", "(2,)"), 1, 2, 3, 4), "needs 8 bytes, but 4 are left"},
		"twice":       {file("{'shape': (), 'shape': (), }"), "given twice"},
		"missing":     {file("{'shape': (), 'descr': '|u1'}"), "fortran_order is missing"},
		"other entry": {file("{'shape': 'x'}"), "unexpected entry shape"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadNPY(bytes.NewReader(c.data))
			assert.ErrorContains(t, err, c.want)
			_, err = ReadNPY(iotest.OneByteReader(bytes.NewReader(c.data)))
			assert.Error(t, err, "with the length unknown")
		})
	}
}

func TestBadArrays(t *testing.T) {
	for want, a := range map[string]Array{
		"needs 8 bytes, got 4": {Descr: "<f4", Shape: []int64{2}, Data: make([]byte, 4)},
		"have 4 bytes, not 8":  {Descr: "<f4", ItemSize: 8, Data: make([]byte, 4)},
		"little-endian":        {Descr: ">f4", Data: make([]byte, 4)},
		"negative dimension":   {Descr: "<f4", Shape: []int64{-1, -1}, Data: make([]byte, 4)},
		"invalid item":         {Data: make([]byte, 4)},
	} {
		assert.ErrorContains(t, WriteNPY(io.Discard, a), want)
		assert.ErrorContains(t, WriteNPZ(io.Discard, []Named{{"a", a}}), want)
	}
	one := sample()[0]
	assert.ErrorContains(t, WriteNPZ(io.Discard, []Named{one, one}), "twice")
}

func TestBadArchives(t *testing.T) {
	archive := func(entries map[string][]byte) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, data := range entries {
			w, err := z.Create(name)
			require.NoError(t, err)
			_, err = w.Write(data)
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		return b.Bytes()
	}
	read := func(data []byte) error {
		_, err := ReadNPZ(bytes.NewReader(data), int64(len(data)))
		return err
	}
	good := file("{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}", 1, 2, 3)
	require.NoError(t, read(archive(map[string][]byte{"a.npy": good})))
	assert.ErrorContains(t, read(archive(map[string][]byte{"a.txt": good})), "not an npy file")
	assert.ErrorContains(t, read(archive(map[string][]byte{"a.npy": append(good, 4)})), "data after the array")
	assert.ErrorContains(t, read(archive(map[string][]byte{"a.npy": good[:len(good)-1]})), "bytes")
	assert.ErrorContains(t, read([]byte("no zip")), "not an npz file")

	// A flipped bit of the data is found by the checksum.
	var b bytes.Buffer
	require.NoError(t, WriteNPZ(&b, sample()))
	flipped := bytes.Clone(b.Bytes())
	flipped[bytes.Index(flipped, []byte{1, 2, 3, 4, 5})] ^= 1
	assert.ErrorContains(t, read(flipped), "checksum")

	// The directory claims more than the bytes can hold.
	claims := bytes.Clone(b.Bytes())
	directory := bytes.Index(claims, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(claims[directory+24:], 1<<31)
	assert.ErrorContains(t, read(claims), "impossible size")

	// Entries that share the same bytes of the archive.
	shared := bytes.Clone(b.Bytes())
	for at := directory; at >= 0 && at+46 < len(shared); {
		binary.LittleEndian.PutUint32(shared[at+20:], uint32(len(shared)/2))
		binary.LittleEndian.PutUint32(shared[at+24:], uint32(len(shared)/2))
		next := bytes.Index(shared[at+4:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		at += 4 + next
	}
	assert.ErrorContains(t, read(shared), "impossible size")
}

// TestCorpus reads the reference answers and writes them back.
func TestCorpus(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "corpus", "reference")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no reference answers beside the repository")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "*.npz"))
	require.NoError(t, err)
	for _, path := range files {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		arrays, err := ReadNPZ(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err, path)
		var b bytes.Buffer
		require.NoError(t, WriteNPZ(&b, arrays))
		again, err := ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
		require.NoError(t, err)
		require.Equal(t, arrays, again)
	}
	t.Logf("%d files", len(files))
}

func FuzzReadNPZ(f *testing.F) {
	for _, name := range []string{"numpy.npz", "numpy_compressed.npz"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		arrays, err := ReadNPZ(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		require.NoError(t, WriteNPZ(io.Discard, arrays))
	})
}

func FuzzReadNPY(f *testing.F) {
	f.Add(file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1, 2)}", make([]byte, 16)...))
	f.Add(file("{'descr': '>c8', 'fortran_order': False, 'shape': ()}", make([]byte, 8)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadNPY(io.LimitReader(bytes.NewReader(data), 1<<30))
		if err != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, WriteNPY(&b, a))
		again, err := ReadNPY(&b)
		require.NoError(t, err)
		require.Equal(t, a, again)
	})
}

func BenchmarkReadNPZ(b *testing.B) {
	data := make([]byte, 16<<20)
	var file bytes.Buffer
	require.NoError(b, WriteNPZ(&file, []Named{{"0", Array{"<f4", 4, []int64{4 << 20}, data}}}))
	b.ReportAllocs()
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if _, err := ReadNPZ(bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil {
			b.Fatal(err)
		}
	}
}
