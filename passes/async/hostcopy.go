package async

import (
	"fmt"
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const hostTransferDoc = `make transfers between the memory of the device and that of the host asynchronous

A copy from one to the other becomes copy-start and copy-done; a dynamic-slice of what is in the host's memory, and a dynamic-update-slice there,
become chains of the general form. host-memory-space-color=5 is the memory space of the host.`

// NewHostTransferAsyncifier makes the pass host-memory-transfer-asyncifier.
func NewHostTransferAsyncifier(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("host-memory-space-color"); err != nil {
		return nil, err
	}
	host := int64(5)
	var err error
	if list, ok := o.List("host-memory-space-color"); ok {
		if len(list) != 1 {
			return nil, fmt.Errorf("host-memory-space-color: got %d numbers, want one", len(list))
		}
		if host, err = strconv.ParseInt(list[0], 10, 64); err != nil {
			return nil, err
		}
	}
	return &pass.Pass{Name: "host-memory-transfer-asyncifier", Doc: hostTransferDoc, Options: o, Makes: []pass.Phase{pass.Async},
		Params: []pass.Param{{Name: "host-memory-space-color", Doc: "the memory space of the host; 5"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
				for in := range c.Instructions() {
					if !transfers(in, host) || !ctx.Spend(in.Opcode().String()) {
						continue
					}
					ctx.Count(in.Opcode().String(), 1)
					ctx.Passed(in, "is begun asynchronously: it moves between the memories of host and device")
					ce := e.Computation(c.ID())
					if in.Opcode() == hlo.OpCopy {
						err = makePair(ce, in.ID(), hlo.Info(hlo.OpCopy).Pair)
					} else {
						_, err = Make(ce, in.ID(), hlo.MainThread)
					}
					if err != nil {
						return m, err
					}
				}
			}
			return e.Freeze(), nil
		}}, nil
}

// transfers reports whether in moves data between the host's memory space and another.
func transfers(in hlo.Instruction, host int64) bool {
	switch in.Opcode() {
	case hlo.OpCopy, hlo.OpDynamicSlice:
		return in.OperandInstr(0).Shape().IsArray() && memorySpace(in.OperandInstr(0).Shape()) != memorySpace(in.Shape()) &&
			(memorySpace(in.Shape()) == host || memorySpace(in.OperandInstr(0).Shape()) == host)
	case hlo.OpDynamicUpdateSlice:
		return memorySpace(in.Shape()) == host && memorySpace(in.OperandInstr(1).Shape()) != host
	}
	return false
}

func memorySpace(s hlo.Shape) int64 {
	l, _ := s.Layout()
	return l.MemorySpace
}
