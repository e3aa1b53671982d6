package directive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/passes/directive"
)

func TestSchedulingGroup(t *testing.T) {
	for _, test := range []struct {
		text string
		want directive.Group
		err  string
	}{
		{"12", directive.Group{Name: "12"}, ""},
		{"12:-1", directive.Group{Name: "12", Round: "-1"}, ""},
		{"noop", directive.Group{}, ""},
		{"", directive.Group{}, ""},
		{"bad", directive.Group{}, `line 4: %r: _scheduling_group_id="bad": want the number of a group`},
		{"12:", directive.Group{}, `line 4: %r: _scheduling_group_id="12:"`},
	} {
		m, err := parser.Parse("m.hlo", fmt.Sprintf("HloModule m\nENTRY main {\n  x = f32[] parameter(0)\n  ROOT r = f32[] negate(x), frontend_attributes={_scheduling_group_id=%q}\n}\n", test.text))
		require.NoError(t, err)
		got, err := directive.SchedulingGroup(m.Entry().Root())
		assert.Equal(t, test.want, got, test.text)
		if test.err == "" {
			assert.NoError(t, err, test.text)
		} else {
			assert.ErrorContains(t, err, test.err)
		}
	}
}
