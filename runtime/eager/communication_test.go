package eager_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/devices"
	"github.com/gohalo/halo/runtime/eager"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// desk is a host that gives what it was given.
type desk struct{ items []*hlo.Literal }

func (d *desk) Infeed(devices.Device, hlo.Shape) (*hlo.Literal, error) { return d.take() }
func (d *desk) Outfeed(_ devices.Device, v *hlo.Literal) error         { return d.put(v) }
func (d *desk) Send(_ devices.Device, _ hlo.Instruction, v *hlo.Literal) error {
	return d.put(v)
}
func (d *desk) Recv(devices.Device, hlo.Instruction, hlo.Shape) (*hlo.Literal, error) {
	return d.take()
}

func (d *desk) put(v *hlo.Literal) error {
	copied, err := hlo.NewLiteral(v.Shape(), append([]byte(nil), v.Bytes()...)) // the operand's memory is not the desk's
	d.items = append(d.items, copied)
	return err
}

func (d *desk) take() (*hlo.Literal, error) {
	v := d.items[0]
	d.items = d.items[1:]
	return v, nil
}

// TestOpsThatTalkToTheHost executes infeed, outfeed, sends and receives op by op: they find the host in the runtime's data.
func TestOpsThatTalkToTheHost(t *testing.T) {
	m, err := parser.Parse("talk", `HloModule talk
ENTRY e {
  t = token[] after-all()
  in = (f32[2], token[]) infeed(t)
  x = f32[2] get-tuple-element(in), index=0
  t1 = token[] get-tuple-element(in), index=1
  y = f32[2] add(x, x)
  t2 = token[] outfeed(y, t1), outfeed_shape=f32[2]
  s = (f32[2], u32[], token[]) send(y, t2), channel_id=1, is_host_transfer=true
  t3 = token[] send-done(s), channel_id=1, is_host_transfer=true
  r = (f32[2], u32[], token[]) recv(t3), channel_id=2, is_host_transfer=true
  rd = (f32[2], token[]) recv-done(r), channel_id=2, is_host_transfer=true
  z = f32[2] get-tuple-element(rd), index=0
  ROOT w = f32[2] add(z, z)
}`)
	require.NoError(t, err)
	for _, queue := range []string{"single", "multi:2"} {
		for _, general := range []bool{false, true} {
			q, err := workqueue.New(queue)
			require.NoError(t, err)
			mesh, d := devices.NewMesh(1, 1), &desk{}
			first, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 2), float32(1), float32(2))
			require.NoError(t, err)
			require.NoError(t, d.put(first))
			rt := eager.NewRuntime(eager.Options{General: general, Host: runtime.NewHost(runtime.HostOptions{Queue: q}), Data: []any{&kernels.World{Mesh: mesh, Host: d}}})
			handles, err := stepThrough(rt, m, nil, nil)
			require.NoError(t, err)
			got, err := rt.Literal(t.Context(), handles[0])
			require.NoError(t, err)
			assert.Equal(t, []float32{4, 8}, hlo.Values[float32](got), "%s, general=%v", queue, general)
			require.Len(t, d.items, 1, "what was sent is left")
			assert.Equal(t, []float32{2, 4}, hlo.Values[float32](d.items[0]))
			rt.Quiesce()
			q.Close()
		}
	}
}
