package verifier

import (
	"fmt"
	"strconv"

	"github.com/gohalo/halo/hlo"
)

// Profile selects a set of rules.
type Profile uint8

// The profiles.
const (
	// Doc demands what the document on async ops promises: each async-start and async-update has exactly one user, its update or
	// done, and ops with asynchronous opcodes of their own are not wrapped.
	Doc Profile = iota
	// XLA accepts what XLA does: asynchronous values may go through tuples and loops.
	XLA
)

func (p Profile) String() string {
	if p == XLA {
		return "xla"
	}
	return "doc"
}

// ParseProfile reads the name of a profile.
func ParseProfile(name string) (Profile, error) {
	switch name {
	case "doc", "":
		return Doc, nil
	case "xla":
		return XLA, nil
	}
	return Doc, fmt.Errorf("no profile %q; there are doc and xla", name)
}

// Config says how to verify. The zero value is the default: profile doc, layouts free, precision strict.
type Config struct {
	Profile Profile
	// Threads limits the op checks to computations of these execution threads; empty means all.
	Threads []string

	LayoutSensitive           bool                       // shapes that must be the same must agree in layout and dynamic flags
	MixedPrecision            bool                       // floating types of operands and result may differ
	BroadcastDimensionsOrder  bool                       // broadcast dimensions must ascend
	ReshapeIsBitcast          bool                       // a reshape must not move bytes
	CallThreadNames           bool                       // calls stay on their thread
	SkipShardingDeviceNumbers bool                       // devices of shardings may be any
	BitcastDifferentSize      bool                       // bitcast may change the padded size
	InstructionNameUnchanged  bool                       // names must equal the scheduling names in metadata
	NoHostMemorySpace         bool                       // nothing may lie in host memory
	NoCollectiveDeadlocks     bool                       // look for deadlocks between send, recv and collectives
	SkipReplicaGroups         bool                       // replica groups may be any
	UnboundedDynamic          func(hlo.Instruction) bool // whether `?` is allowed there; nil: nowhere
	CanChangeLayout           func(hlo.Instruction) bool // whether the instruction may change layouts; nil: unary ops, and what [CanChangeLayout] says. LayoutSensitive only
	ShapeSize                 func(hlo.Shape) int64      // bytes of a shape; nil: dense
}

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
		{"supported-unbounded-dynamic-op", "which instructions may have unbounded dimensions: none or all", false, "none", func(c *Config, v string) error {
			return setPredicate(&c.UnboundedDynamic, "supported-unbounded-dynamic-op", v, map[string]bool{"all": true, "true": true, "": true}, map[string]bool{"none": true, "false": true}, nil)
		}},
		flag("verify-instruction-name-unchanged", "names equal the scheduling names in metadata", func(c *Config) *bool { return &c.InstructionNameUnchanged }),
		flag("verify-no-host-memory-space", "nothing lies in host memory", func(c *Config) *bool { return &c.NoHostMemorySpace }),
		flag("deadlocks", "look for deadlocks between send, recv and other collectives in scheduled modules", func(c *Config) *bool { return &c.NoCollectiveDeadlocks }),
		onFlag("check-replica-groups", "replica groups name each device once", func(c *Config) *bool { return &c.SkipReplicaGroups }),
		{"instruction-can-change-layout", "which instructions may change layouts in layout-sensitive mode: always; never; assignment, as layout assignment leaves it; default, that and unary elementwise ops", false, "default", func(c *Config, v string) error {
			switch v {
			case "assignment":
				c.CanChangeLayout = CanChangeLayout
				return nil
			case "default":
				c.CanChangeLayout = nil
				return nil
			}
			return setPredicate(&c.CanChangeLayout, "instruction-can-change-layout", v, map[string]bool{"always": true, "true": true, "": true}, map[string]bool{"never": true, "false": true},
				func(hlo.Instruction) bool { return false })
		}},
	}
}

// setPredicate sets a predicate to true everywhere, or to its negative form: off for nil.
func setPredicate(p *func(hlo.Instruction) bool, name, v string, yes, no map[string]bool, off func(hlo.Instruction) bool) error {
	switch {
	case yes[v]:
		*p = func(hlo.Instruction) bool { return true }
	case no[v]:
		*p = off
	default:
		return fmt.Errorf("option %s does not know %q", name, v)
	}
	return nil
}
