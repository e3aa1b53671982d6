package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
)

func TestExchanges(t *testing.T) {
	m, err := parser.Parse("m", `HloModule m, num_partitions=8
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
ENTRY e {
  x = f32[1024] parameter(0)
  r = f32[1024] all-reduce(x), channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true, to_apply=add
  g = f32[8192] all-gather(r), channel_id=2, replica_groups={{0,1,2,3,4,5,6,7}}, dimensions={0}, use_global_device_ids=true
  ROOT p = f32[8192] collective-permute(g), channel_id=3, source_target_pairs={{0,1}}
}`)
	require.NoError(t, err)
	link, err := analysis.ParseLink("10us,1GB/s")
	require.NoError(t, err)
	want := map[string]struct {
		group, sent int64
		seconds     float64
	}{"r": {4, 6144, 40e-6 + 6144e-9}, "g": {8, 28672, 30e-6 + 28672e-9}, "p": {2, 32768, 10e-6 + 32768e-9}}
	for in := range m.Entry().Instructions() {
		x, ok := analysis.ExchangeOf(in, 8)
		w, is := want[in.Name()]
		require.Equal(t, is, ok, in.Name())
		if !ok {
			continue
		}
		assert.Equal(t, w.group, x.Group, in.Name())
		assert.Equal(t, w.sent, x.Sent(), in.Name())
		assert.InDelta(t, w.seconds, x.Seconds(link), 1e-9, in.Name())
	}
	for _, bad := range []string{"", "10us", "10,1GB/s", "10us,1", "-1us,1GB/s", "1us,0GB/s"} {
		_, err := analysis.ParseLink(bad)
		assert.Error(t, err, bad)
	}
}
