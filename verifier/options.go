package verifier

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// The fields of Config by the names that command lines use.

// Option is one option by its name, for command lines.
type Option struct {
	Name, Doc string
	// Bool says that the option is a switch: it takes "true" or "false", and "true" when nothing is written.
	Bool    bool
	Default string
	Set     func(*Config, string) error
}

func flag(name, doc string, field func(*Config) *bool) Option {
	return Option{name, doc, true, "false", func(c *Config, v string) error {
		b, err := parseSwitch(name, v)
		*field(c) = b
		return err
	}}
}

// onFlag is a switch that is on by default and stored inverted.
func onFlag(name, doc string, field func(*Config) *bool) Option {
	return Option{name, doc, true, "true", func(c *Config, v string) error {
		b, err := parseSwitch(name, v)
		*field(c) = !b
		return err
	}}
}

func parseSwitch(name, v string) (bool, error) {
	if v == "" {
		return true, nil
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("option %s is true or false, got %q", name, v)
	}
	return b, nil
}

// Options lists the options by their names on the command line.
func Options() []Option {
	return []Option{
		flag("layout-sensitive", "layouts and dynamic flags count in comparisons of shapes", func(c *Config) *bool { return &c.LayoutSensitive }),
		flag("mixed-precision", "floating types of operands and result may differ", func(c *Config) *bool { return &c.MixedPrecision }),
		flag("verify-broadcast-dimensions-order", "broadcast dimensions must ascend", func(c *Config) *bool { return &c.BroadcastDimensionsOrder }),
		flag("verify-reshape-is-bitcast", "a reshape outside of fusions must not move bytes", func(c *Config) *bool { return &c.ReshapeIsBitcast }),
		flag("verify-call-nested-computation-thread-name", "calls and reducers stay on the thread of their caller", func(c *Config) *bool { return &c.CallThreadNames }),
		onFlag("verify-sharding-device-numbers", "devices of shardings are within the partitions", func(c *Config) *bool { return &c.SkipShardingDeviceNumbers }),
		flag("allow-bitcast-to-have-different-size", "a bitcast may change the padded size", func(c *Config) *bool { return &c.BitcastDifferentSize }),
		choice("supported-unbounded-dynamic-op", "which instructions may have unbounded dimensions", []setting{
			{"none", func(c *Config) { c.UnboundedDynamic = nil }},
			{"all", func(c *Config) { c.UnboundedDynamic = always }},
		}, "true=all", "false=none"),
		flag("verify-instruction-name-unchanged", "names equal the scheduling names in metadata", func(c *Config) *bool { return &c.InstructionNameUnchanged }),
		flag("verify-no-host-memory-space", "nothing lies in host memory", func(c *Config) *bool { return &c.NoHostMemorySpace }),
		flag("deadlocks", "look for deadlocks between send, recv and other collectives in scheduled modules", func(c *Config) *bool { return &c.NoCollectiveDeadlocks }),
		onFlag("check-replica-groups", "replica groups name each device once", func(c *Config) *bool { return &c.SkipReplicaGroups }),
		choice("instruction-can-change-layout", "which instructions may change layouts in layout-sensitive mode; assignment: as layout assignment leaves it; default: that, and unary elementwise ops", []setting{
			{"default", func(c *Config) { c.CanChangeLayout = nil }},
			{"assignment", func(c *Config) { c.CanChangeLayout = CanChangeLayout }},
			{"always", func(c *Config) { c.CanChangeLayout = always }},
			{"never", func(c *Config) { c.CanChangeLayout = never }},
		}, "true=always", "false=never"),
		choice("shape-size", "bytes of an array; dense: sub-byte elements take a byte each unless the layout says otherwise; packed: they are packed", []setting{
			{"dense", func(c *Config) { c.ShapeSize = nil }},
			{"packed", func(c *Config) { c.ShapeSize = PackedSize }},
		}),
		{"levels", "groups of rules to check: " + allLevels.String(), false, "all", setLevels},
		{"threads", "execution threads whose ops are checked", false, "all", func(c *Config, v string) error {
			c.Threads = strings.Split(v, ",")
			return nil
		}},
		{"context", "what every message says that it was verified for", false, "none", func(c *Config, v string) error {
			c.Context = v
			return nil
		}},
		flag("verify-rng-state", "beyond XLA: random states are as large as their algorithm wants", func(c *Config) *bool { return &c.RNGState }),
		flag("verify-reducer-signatures", "beyond XLA: all-reduce and reduce-scatter combine two scalars into one", func(c *Config) *bool { return &c.ReducerSignatures }),
		flag("verify-transfer-tokens", "beyond XLA: send and recv take tokens", func(c *Config) *bool { return &c.TransferTokens }),
		flag("verify-collective-groups", "beyond XLA: groups of collective-broadcast, channels of all-reduce-start", func(c *Config) *bool { return &c.CollectiveGroups }),
		flag("verify-defined", "beyond XLA: ops are defined on the types and sizes of their operands", func(c *Config) *bool { return &c.Defined }),
		flag("verify-batching-axes", "beyond XLA: batching axes of gather and scatter have no other role, and the sizes of their partners", func(c *Config) *bool { return &c.BatchingAxes }),
		flag("verify-reduction-deadlocks", "beyond XLA, with --deadlocks: all-reduce and reduce-scatter are collectives, too", func(c *Config) *bool { return &c.ReductionDeadlocks }),
		{"beyond-xla", "all of the checks that XLA has not", true, "false", func(c *Config, v string) error {
			b, err := parseSwitch("beyond-xla", v)
			for _, field := range c.beyondXLA() {
				*field = b
			}
			return err
		}},
	}
}

// beyondXLA are the fields of Config that XLA has no option for.
func (c *Config) beyondXLA() []*bool {
	return []*bool{&c.RNGState, &c.ReducerSignatures, &c.TransferTokens, &c.CollectiveGroups, &c.Defined, &c.BatchingAxes, &c.ReductionDeadlocks}
}

func always(hlo.Instruction) bool { return true }
func never(hlo.Instruction) bool  { return false }

// setting is one value of an option that chooses.
type setting struct {
	name string
	set  func(*Config)
}

// choice is an option with named values, the first of which is the default; also are other spellings of them, `true=all`.
func choice(name, doc string, settings []setting, also ...string) Option {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = s.name
	}
	return Option{name, doc + ": " + strings.Join(names, ", "), false, names[0], func(c *Config, v string) error {
		for _, a := range also {
			if spelling, means, _ := strings.Cut(a, "="); v == spelling || v == "" && spelling == "true" {
				v = means
				break
			}
		}
		i := slices.Index(names, v)
		if i < 0 {
			return fmt.Errorf("option %s does not know %q; it knows %s", name, v, strings.Join(names, ", "))
		}
		settings[i].set(c)
		return nil
	}}
}

func setLevels(c *Config, v string) error {
	c.Levels = 0
	for name := range strings.SplitSeq(v, ",") {
		i := slices.Index(levelNames, name)
		switch {
		case name == "all":
			c.Levels = allLevels
		case i < 0:
			return fmt.Errorf("there is no level %q; there are %v", name, allLevels)
		default:
			c.Levels |= 1 << i
		}
	}
	return nil
}
