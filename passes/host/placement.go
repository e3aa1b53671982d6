package host

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// placements are the memories that annotations name, and the custom calls that put values there.
var placements = map[string]string{
	"pinned_host":   toHost,
	"unpinned_host": toHost,
	"device":        toDevice,
	"pinned_device": "PinToDevice",
	"device_sram":   "PinToDeviceSram",
}

const placementKey = "_xla_buffer_placement"

// ConvertPlacement replaces annotations of programs by XLA's own.
var ConvertPlacement = &pass.Pass{
	Name: "convert-memory-placement-to-internal-annotations",
	Doc: `annotate_device_placement → MoveToHost, MoveToDevice, PinToDevice or PinToDeviceSram

The frontend attribute _xla_buffer_placement of the custom call says which: pinned_host and unpinned_host, device, pinned_device, device_sram. An annotation of
another memory stays.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if !isCall(in, placement) || in.NumOperands() != 1 || in.Common() == nil {
				continue
			}
			memory, _ := in.Common().FrontendAttributes.Get(placementKey)
			target, ok := placements[memory]
			if !ok {
				ctx.Missed(in, "names the memory %q, which is not known", memory)
				continue
			}
			if !ctx.Spend("annotation") {
				continue
			}
			attrs := hlo.AttrsOf[hlo.CustomCallAttrs](in)
			attrs.Target, attrs.HasSideEffect = target, false
			c.Instr(in.ID()).SetAttrs(&attrs).SetCommon(withoutFrontend(in.Common(), placementKey))
			ctx.Count("annotations", 1)
		}
		return nil
	},
}

// withoutFrontend is the common attributes without one of the frontend.
func withoutFrontend(c *hlo.Common, key string) *hlo.Common {
	own := *c
	own.FrontendAttributes = nil
	if entries := slices.DeleteFunc(slices.Clone(c.FrontendAttributes.Entries), func(e hlo.FrontendAttribute) bool { return e.Key == key }); len(entries) > 0 {
		own.FrontendAttributes = &hlo.FrontendAttributes{Entries: entries}
	}
	return &own
}

// NewPrepare makes the pass host-offloading-prepare.
func NewPrepare(o pass.Options) (*pass.Pass, error) {
	const key, elide = "rewrite", "elide-move-to-host"
	if err := o.Known(key); err != nil {
		return nil, err
	}
	if got := o.Text(key, elide); got != elide {
		return nil, fmt.Errorf("host-offloading-prepare: %s: got %s, want %s", key, got, elide)
	}
	return &pass.Pass{Name: "host-offloading-prepare", Options: o, Params: []pass.Param{{Name: key, Doc: "what to do: elide-move-to-host, the only one that there is"}},
		Doc: `remove annotations from the operands of host computations

An asynchronous computation of the thread "host" takes its operands where they are, so MoveToHost in front of it is not needed.`,
		Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			for in := range m.MustComputation(c.ID()).Instructions() {
				if in.Opcode() != hlo.OpAsyncStart || hlo.AttrsOf[hlo.AsyncStartAttrs](in).ExecutionThread != hostThread {
					continue
				}
				for i, o := range slices.Collect(in.Operands()) {
					if !isCall(o, toHost) || !ctx.Spend("annotation") {
						continue
					}
					c.Instr(in.ID()).SetOperand(i, o.Operand(0))
					if c.UserCount(o.ID()) == 0 && c.Root() != o.ID() {
						if err := c.Remove(o.ID()); err != nil {
							return err
						}
					}
					ctx.Count("annotations", 1)
				}
			}
			return nil
		}}, nil
}
