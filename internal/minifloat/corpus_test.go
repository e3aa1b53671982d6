package minifloat_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/internal/minifloat"
)

// TestXLA compares conversions to and between narrow floats with XLA's answers.
func TestXLA(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "corpus", "reference", "ops", "convert.jsonl"))
	if err != nil {
		t.Skip("no reference answers beside the repository")
	}
	defer file.Close()
	formats := map[string]minifloat.Format{}
	for _, f := range minifloat.Formats() {
		formats[f.String()] = f
	}
	compared := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var c struct{ ID, HLO, Inputs, Outputs string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		types := strings.Split(c.ID, "/")
		if len(types) != 3 || strings.Contains(types[2], "-") {
			continue // a chain of conversions
		}
		from, fromNarrow := formats[types[1]]
		to, toNarrow := formats[types[2]]
		read := reader(types[1])
		if fromNarrow {
			read = func(b []byte) float64 { return from.Float64(code(b)) }
		}
		if read == nil || !fromNarrow && !toNarrow {
			continue
		}
		write := reader(types[2])
		if toNarrow {
			write = func(b []byte) float64 { return to.Float64(code(b)) }
		} else if write == nil || types[2][0] == 's' || types[2][0] == 'u' {
			continue // rounding to integers is not this package's
		}
		t.Run(types[1]+"/"+types[2], func(t *testing.T) {
			in, out := array(t, c.Inputs), array(t, c.Outputs)
			require.Equal(t, in.Elements(), out.Elements())
			for i := range int(in.Elements()) {
				x := read(in.Data[i*in.ItemSize:][:in.ItemSize])
				want := write(out.Data[i*out.ItemSize:][:out.ItemSize])
				got := x
				switch {
				case toNarrow && (types[1][0] == 's' || types[1][0] == 'u' || to == minifloat.F16 || to == minifloat.BF16):
					got = to.Float64(to.FromFloat32(float32(x))) // HLO goes by way of f32
				case toNarrow:
					got = to.Float64(to.FromFloat64(x))
				case types[2] == "f32":
					got = float64(float32(x))
				}
				if got != got && want != want {
					continue
				}
				assert.True(t, math.Float64bits(got) == math.Float64bits(want), "%v: got %v, XLA has %v", x, got, want)
			}
			compared += int(in.Elements())
		})
	}
	require.NoError(t, lines.Err())
	t.Logf("%d values", compared)
}

func array(t *testing.T, text string) npz.Array {
	data, err := base64.StdEncoding.DecodeString(text)
	require.NoError(t, err)
	arrays, err := npz.ReadNPZ(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	return arrays[0].Array
}

// code is the code of a narrow float stored in one or two bytes.
func code(b []byte) uint16 {
	if len(b) == 1 {
		return uint16(b[0])
	}
	return binary.LittleEndian.Uint16(b)
}

// reader reads an item of a wide type whose values float64 holds.
func reader(elementType string) func(b []byte) float64 {
	switch elementType {
	case "f32":
		return func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	case "f64":
		return func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	case "s8":
		return func(b []byte) float64 { return float64(int8(b[0])) }
	case "u8":
		return func(b []byte) float64 { return float64(b[0]) }
	case "s16":
		return func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }
	case "u16":
		return func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }
	case "s32":
		return func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }
	case "u32":
		return func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }
	}
	if bits, err := strconv.Atoi(elementType[1:]); err == nil && bits < 8 {
		if elementType[0] == 's' {
			return func(b []byte) float64 { return float64(int8(b[0]<<(8-bits)) >> (8 - bits)) }
		}
		return func(b []byte) float64 { return float64(b[0] & (1<<bits - 1)) }
	}
	return nil
}
