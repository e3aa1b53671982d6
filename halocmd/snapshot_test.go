package halocmd

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
)

// TestSnapshot runs a program with the inputs that its snapshot carries, and compares with the result that it carries.
func TestSnapshot(t *testing.T) {
	m, err := parser.Parse("m", `HloModule m
ENTRY e {
  t = (f32[2], token[]) parameter(0)
  x = f32[2] get-tuple-element(t), index=0
  k = token[] get-tuple-element(t), index=1
  n = f32[2] negate(x)
  ROOT r = (token[], f32[2]) tuple(k, n)
}`)
	require.NoError(t, err)
	numbers := func(x ...float32) *hlo.Literal {
		l, err := halo.Array(x)
		require.NoError(t, err)
		return l
	}
	token, err := hlo.NewLiteral(hlo.MakeToken(), nil)
	require.NoError(t, err)
	snapshot := func(result *hlo.Literal) string {
		s := &proto.Snapshot{Module: m, Arguments: []*hlo.Literal{hlo.NewTupleLiteral(numbers(1, -2), token)}}
		if result != nil {
			s.Result = hlo.NewTupleLiteral(token, result)
		}
		path := filepath.Join(t.TempDir(), "s.pb")
		require.NoError(t, os.WriteFile(path, proto.EncodeSnapshot(s), 0o666))
		return path
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"run", "--print", snapshot(nil)}, exitOK, "f32[2] {-1, 2}"},
		{[]string{"run", snapshot(numbers(-1, 2))}, exitOK, "results agree with the snapshot: largest difference 0"},
		{[]string{"run", "--engine=eval", "--print", snapshot(numbers(-1, 2))}, exitOK, "f32[2] {-1, 2}"},
		{[]string{"run", snapshot(numbers(-1, 3))}, exitInput, "1 of 2 results differ from what the snapshot carries"},
		{[]string{"run", snapshot(numbers(-1))}, exitInput, "the snapshot carries f32[1], and the program computes f32[2]"},
		{[]string{"run", "--fill=zeros", "--print", snapshot(numbers(-1, 3))}, exitOK, "f32[2] {-0, -0}"},
	} {
		var out bytes.Buffer
		assert.Equal(t, c.code, run(c.args, nil, &out, &out), out.String())
		assert.Contains(t, out.String(), c.want)
	}
}

// TestUnoptimizedSnapshot runs a program with the arguments that XLA has dumped behind it, packed and at any address.
func TestUnoptimizedSnapshot(t *testing.T) {
	m, err := parser.Parse("m", `HloModule m
ENTRY e {
  p = pred[11] parameter(0)
  i = s4[3] parameter(1)
  x = f32[2,3]{0,1} parameter(2)
  n = pred[11] not(p)
  w = s8[3] convert(i)
  ROOT r = (pred[11], s8[3], f32[2,3]{0,1}) tuple(n, w, x)
}`)
	require.NoError(t, err)
	field := func(b []byte, n protowire.Number, data []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), data)
	}
	number := func(b []byte, n protowire.Number, x uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), x)
	}
	var inputs, literals []byte
	add := func(elementType uint64, layout []byte, data string, dims ...byte) {
		shape := field(field(number(nil, 2, elementType), 3, dims), 5, field(nil, 1, layout))
		l := append(binary.LittleEndian.AppendUint64(nil, uint64(len(shape))), shape...)
		l = append(l, data...)
		inputs = field(inputs, 2, number(nil, 2, uint64(len(l))))
		literals = append(literals, l...)
	}
	add(1, []byte{0}, "\x39\x05", 11)
	add(21, []byte{0}, "\xed\x0f", 3)
	add(11, []byte{0, 1}, "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40\x00\x00\xc0\x40", 2, 3)
	msg := field(field(nil, 1, proto.Encode(m)), 2, inputs)
	file := append(protowire.AppendBytes(nil, msg), literals...)
	path := filepath.Join(t.TempDir(), "s.pb")
	try := func(data []byte) (int, string) {
		require.NoError(t, os.WriteFile(path, data, 0o666))
		var out bytes.Buffer
		return run([]string{"run", "--print", path}, nil, &out, &out), out.String()
	}
	code, out := try(file)
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "pred[11] {0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0}\ns8[3] {-3, -2, -1}\nf32[2,3] { { 1, 3, 5 }, { 2, 4, 6 } }\n", out)
	// Every cut is an error that says where, or leaves nothing that is a module.
	for n := len(msg); n < len(file); n++ {
		code, out := try(file[:n])
		assert.Equal(t, exitInput, code, "%d bytes: %s", n, out)
		assert.Contains(t, out, "s.pb: error: ")
	}
}
