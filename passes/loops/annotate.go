package loops

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// TripCountAnnotator writes down how often loops run.
var TripCountAnnotator = &pass.Pass{
	Name:  "while-loop-trip-count-annotator",
	About: []hlo.Opcode{hlo.OpWhile},
	Doc: `write the number of rounds of counting loops into their backend configuration

	backend_config={"known_trip_count":{"n":"12"},"known_init_step":{"init":"0","step":"1"},"known_induction_variable":{"tuple_index":"0"}}

Cost estimates and schedulers read it. What reads the counter after the loop becomes the constant with which that ends. Of a loop whose condition depends on one part of the
state, and that on itself alone, but not by adding a constant, this says which part it is, and how many rounds there are if they are integers and no more than 127. A loop with another configuration of its own keeps that; one that says
something else of its rounds than what is found is corrected.`,
	Lent: true, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		callees := analysis.Now(c.Editor())
		for in := range pass.EachOf(c, hlo.OpWhile) {
			has, free := loopConfig(in)
			if !free {
				continue
			}
			l, counts := analysis.FindLoop(callees, in)
			config := tripConfig(l)
			if !counts {
				other, counted, ok := inductionConfig(ctx, m, callees, in)
				if !ok || has != "" && !counted {
					continue
				}
				config = other
			}
			if saysSame(has, config) || !ctx.Spend("annotate") {
				continue
			}
			common := hlo.Common{}
			if in.Common() != nil {
				common = *in.Common()
			}
			common.BackendConfig = config
			c.Instr(in.ID()).SetCommon(&common)
			ctx.Count("loops", 1)
			if !counts {
				continue
			}
			if err := forwardFinal(ctx, c, c.At(in.ID()), l); err != nil {
				return err
			}
		}
		return nil
	},
}

// tripConfig is what is known of a loop as its configuration.
func tripConfig(l analysis.Loop) string {
	return fmt.Sprintf(`{"known_trip_count":{"n":"%d"},"known_init_step":{"init":"%d","step":"%d"},"known_induction_variable":{"tuple_index":"%d"}}`,
		l.Trip, l.First, l.Step, l.Induction)
}

// loopConfig is the configuration of a loop; false if it says anything else than how the loop counts.
func loopConfig(while hlo.Instruction) (string, bool) {
	c := while.Common()
	if c == nil || strings.TrimSpace(c.BackendConfig) == "" {
		return "", true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(c.BackendConfig), &fields) != nil {
		return "", false
	}
	for key := range fields {
		if !strings.HasPrefix(key, "known_") && key != "dynamic_variables" {
			return "", false
		}
	}
	return c.BackendConfig, true
}

// saysSame reports whether a configuration has all fields of another, as they are there.
func saysSame(has, want string) bool {
	var a, b map[string]any
	if json.Unmarshal([]byte(has), &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return false
	}
	for key, v := range b {
		if !reflect.DeepEqual(a[key], v) {
			return false
		}
	}
	return true
}

// What a configuration says about parts of the state by number: halo's own, and XLA's list of further counters.
var (
	inductionPart = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`("known_induction_variable"\s*:\s*\{\s*"tuple_index"\s*:\s*")(\d+)`)
	})
	dynamicParts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`,?\s*"dynamic_variable_tuple_indices"\s*:\s*\[[^\]]*\]`)
	})
)

// renumbered is what a loop says of itself after parts of its state have moved to other places. The counter is never one that goes: the condition
// reads it.
func renumbered(c *hlo.Common, place []int) *hlo.Common {
	if c == nil || !strings.Contains(c.BackendConfig, "tuple_ind") {
		return c
	}
	now := *c
	now.BackendConfig = dynamicParts().ReplaceAllString(now.BackendConfig, "")
	now.BackendConfig = inductionPart().ReplaceAllStringFunc(now.BackendConfig, func(s string) string {
		found := inductionPart().FindStringSubmatch(s)
		if i, err := strconv.Atoi(found[2]); err == nil && i < len(place) {
			return found[1] + strconv.Itoa(place[i])
		}
		return s
	})
	return &now
}
