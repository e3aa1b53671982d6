package kernels

import (
	"bytes"
	"errors"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// errAlone is the error of a program that communicates and is run by itself.
var errAlone = errors.New("the program is not run on a mesh of devices: see kernels.Devices")

// needsMesh is an op that the evaluator computes with the help of the mesh.
func needsMesh(s *site) (runtime.Bound, bool) {
	bound := evaluated(s)
	run := bound.Run
	bound.Run = func(f *runtime.TensorFrame) error {
		if deviceOf(f).Mesh == nil {
			return errAlone
		}
		return run(f)
	}
	return bound, true
}

// send copies its operand before it gives it away: the operand's memory will be used again before the receiver has read it.
func send(s *site) (runtime.Bound, bool) {
	if hlo.AttrsOf[hlo.SendRecvAttrs](s.in).IsHostTransfer || !s.shape(0).IsArray() {
		return runtime.Bound{}, false
	}
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		on := deviceOf(f)
		if on.Mesh == nil {
			return errAlone
		}
		l, err := hlo.NewLiteral(s.shape(0), bytes.Clone(f.In(0).Data))
		if err != nil {
			return err
		}
		copy(f.Out(0).Data, f.In(0).Data)
		return on.Mesh.Send(s.in, on.Device, l)
	}}, true
}

// recvDone waits for what another device sends.
func recvDone(s *site) (runtime.Bound, bool) {
	if hlo.AttrsOf[hlo.SendRecvAttrs](s.in).IsHostTransfer || !s.in.Shape().Elem(0).IsArray() {
		return runtime.Bound{}, false
	}
	name := s.name()
	return runtime.Bound{RunAsync: func(f *runtime.TensorFrame) *async.Value {
		on := deviceOf(f)
		if on.Mesh == nil {
			return async.MakeError(errAlone)
		}
		w := newWaiter(f.Ctx().Context(), on.Mesh)
		v, ready, err := on.Mesh.Receipt(s.in, name, on.Device, func(v *hlo.Literal, err error) {
			if err == nil {
				copy(f.Out(0).Data, v.Bytes())
			}
			w.resume(err)
		})
		if !ready && err == nil {
			return w.done.Value()
		}
		w.stop()
		if v != nil && err == nil {
			copy(f.Out(0).Data, v.Bytes())
		} else {
			clear(f.Out(0).Data)
		}
		return outcome(err)
	}}, true
}

// NeedsMesh reports whether a program has ops that talk to the host or send to other devices, so that it has to be run by [Devices] even
// if it is alone.
func NeedsMesh(p *runtime.Program) bool {
	for _, name := range p.File().Kernels {
		switch name {
		case "hlo.infeed", "hlo.outfeed", "hlo.send", "hlo.recv", "hlo.recv-done":
			return true
		}
	}
	return false
}
