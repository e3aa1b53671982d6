// Package host holds the passes that move values between the memory of the device and that of the host.
//
// Programs say where a value is to be by custom calls: annotate_device_placement, which JAX writes, and XLA's own MoveToHost and MoveToDevice. In
// the end the memory space of a layout says it: S(5) is the host.
package host

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{ConvertPlacement, Legalize, Offloader},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"host-offloading-prepare": NewPrepare,
	},
}

// The targets of custom calls that say where values are.
const (
	placement = "annotate_device_placement"
	toHost    = "MoveToHost"
	toDevice  = "MoveToDevice"
	buffer    = hlo.TargetAllocateBuffer
)

// hostSpace is the memory space of the host in layouts, and hostThread the execution thread of what runs there.
const (
	hostSpace  = 5
	hostThread = "host"
)

// isCall reports a custom call with a target.
func isCall(in hlo.Instruction, target string) bool {
	return in.Opcode() == hlo.OpCustomCall && hlo.AttrsOf[hlo.CustomCallAttrs](in).Target == target
}
