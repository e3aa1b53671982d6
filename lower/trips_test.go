package lower

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime"
)

// TestTripCounts lowers loops whose rounds can be told in advance, and such where the condition has to run.
func TestTripCounts(t *testing.T) {
	for name, c := range map[string]struct {
		limit, effect, config string
		want                  int64
	}{
		"counting":             {limit: "constant(12)", want: 12},
		"told":                 {limit: "get-tuple-element(s), index=1", config: `, backend_config={"known_trip_count":{"n":"17"}}`, want: 17},
		"unknown limit":        {limit: "get-tuple-element(s), index=1", want: runtime.UnknownTripCount},
		"condition has effect": {limit: "constant(12)", effect: "k = token[] after-all() o = token[] outfeed(i, k), outfeed_shape=s32[]", want: runtime.UnknownTripCount},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := parser.Parse("m", fmt.Sprintf(`HloModule m
body { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] get-tuple-element(s), index=1 one = s32[] constant(1) j = s32[] add(i, one) ROOT t = (s32[], s32[]) tuple(j, n) }
cond { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 %s n = s32[] %s ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main { n = s32[] parameter(0) z = s32[] constant(0) init = (s32[], s32[]) tuple(z, n) ROOT w = (s32[], s32[]) while(init), condition=cond, body=body%s }`, c.effect, c.limit, c.config))
			require.NoError(t, err)
			l := newLowering(m)
			f, err := l.function(t.Context(), m.Entry().ID(), plainCall, hlo.Shape{})
			require.NoError(t, err)
			require.Len(t, f.plan.Controls, 1)
			assert.Equal(t, c.want, f.plan.Controls[0].TripCount)
		})
	}
}
