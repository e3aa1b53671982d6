package halocmd

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/printer"
)

// TestEveryPrintOptionHasAFlag holds the flags to the configuration: each field that means something for a module is set by a flag, and by
// one only.
func TestEveryPrintOptionHasAFlag(t *testing.T) {
	const elsewhere = "Sugar Entry" // Sugar has words of its own; Entry is of computations that are printed alone
	flags := map[string]int{}
	for f := range reflect.TypeFor[printFlags]().Fields() {
		if name := strings.TrimPrefix(f.Tag.Get("config"), "!"); name != "" {
			flags[name]++
		}
	}
	for f := range reflect.TypeFor[printer.Config]().Fields() {
		if !strings.Contains(elsewhere, f.Name) {
			assert.Equal(t, 1, flags[f.Name], "flags for %s", f.Name)
		}
		delete(flags, f.Name)
	}
	assert.Empty(t, flags, "flags for fields that the configuration does not have")
}

// TestPrintFlagsOverTheirStyle gives each flag both its values over styles that begin with the one or the other.
func TestPrintFlagsOverTheirStyle(t *testing.T) {
	yes, no := true, false
	names, every := printer.BodyNames, printer.NoIndex
	for _, c := range []struct {
		flags printFlags
		want  func(*printer.Config)
	}{
		{printFlags{Style: "short", Metadata: &yes}, func(c *printer.Config) { c.OmitMetadata = false }},
		{printFlags{Style: "default", Metadata: &no}, func(c *printer.Config) { c.OmitMetadata = true }},
		{printFlags{Style: "long", LargeConstants: &no}, func(c *printer.Config) { c.LargeConstants = false }},
		{printFlags{Style: "canonical", Subcomputations: &names}, func(c *printer.Config) { c.Bodies = printer.BodyNames }},
		{printFlags{Style: "default", OperandIndexInterval: &every}, func(c *printer.Config) { c.OperandIndex = printer.NoIndex }},
		{printFlags{Style: "default", Sugar: "off"}, func(c *printer.Config) { c.Sugar = printer.SugarOff }},
		{printFlags{Style: "default", Indent: 3}, func(c *printer.Config) { c.Indent = 3 }},
	} {
		want, ok := printer.StyleByName(c.flags.Style)
		require.True(t, ok)
		c.want(&want)
		got, err := c.flags.config()
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
