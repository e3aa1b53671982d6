package halocmd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		{[]string{"run", snapshot(numbers(-1, 2))}, exitOK, "against the snapshot: 2 elements, largest difference 0"},
		{[]string{"run", "--engine=eval", "--print", snapshot(numbers(-1, 2))}, exitOK, "f32[2] {-1, 2}"},
		{[]string{"run", snapshot(numbers(-1, 3))}, exitInput, "1 of 2 results differ from those that the snapshot carries"},
		{[]string{"run", snapshot(numbers(-1))}, exitInput, "the snapshot carries f32[1], and the program computes f32[2]"},
		{[]string{"run", "--fill=zeros", "--print", snapshot(numbers(-1, 3))}, exitOK, "f32[2] {-0, -0}"},
	} {
		var out bytes.Buffer
		assert.Equal(t, c.code, run(c.args, nil, &out, &out), out.String())
		assert.Contains(t, out.String(), c.want)
	}
}
