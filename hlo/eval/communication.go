package eval

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// Host is the other side of infeed, outfeed, and of send and recv that go to the host. Its methods are told which device asks. They are
// called in the order of the program on each device, and by several goroutines at once when several devices run. The values that they
// get must not be kept: their memory is used again.
type Host interface {
	// Infeed is the next item, of shape s.
	Infeed(d Device, s hlo.Shape) (*hlo.Literal, error)
	// Outfeed takes an item.
	Outfeed(d Device, v *hlo.Literal) error
	// Send takes what in, a send, gives; Recv makes what in, a recv, wants.
	Send(d Device, in hlo.Instruction, v *hlo.Literal) error
	Recv(d Device, in hlo.Instruction, s hlo.Shape) (*hlo.Literal, error)
}

// Point-to-point and host communication.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpInfeed:   infeed,
		hlo.OpOutfeed:  outfeed,
		hlo.OpSend:     send,
		hlo.OpSendDone: func(*Call) (*hlo.Literal, error) { return token() },
		hlo.OpRecv:     recv,
		hlo.OpRecvDone: recvDone,
	})
}

func (c *Call) host() (Host, error) {
	if c.e.o.Host == nil {
		return nil, fmt.Errorf("there is no host to communicate with")
	}
	return c.e.o.Host, nil
}

func infeed(c *Call) (*hlo.Literal, error) {
	h, err := c.host()
	if err != nil {
		return nil, err
	}
	v, err := h.Infeed(c.e.here(), c.In.Shape().Elem(0))
	if err != nil {
		return nil, err
	}
	t, err := token()
	return hlo.NewTupleLiteral(v, t), err
}

func outfeed(c *Call) (*hlo.Literal, error) {
	h, err := c.host()
	if err != nil {
		return nil, err
	}
	if err := h.Outfeed(c.e.here(), c.Args[0]); err != nil {
		return nil, err
	}
	return token()
}

// grid is the mesh that the device is in; a device that is alone gets one of its own.
func (c *Call) grid() *devices.Mesh {
	if c.e.mesh == nil {
		c.e.mesh = devices.NewMesh(1, 1)
	}
	return c.e.mesh
}

// send is (value, context, token).
func send(c *Call) (*hlo.Literal, error) {
	var err error
	if hlo.AttrsOf[hlo.SendRecvAttrs](c.In).IsHostTransfer {
		var h Host
		if h, err = c.host(); err == nil {
			err = h.Send(c.e.here(), c.In, c.Args[0])
		}
	} else {
		err = c.grid().Send(c.In, c.e.here(), c.Args[0])
	}
	if err != nil {
		return nil, err
	}
	return withContexts(c.In.Shape(), c.Args[0])
}

// recv is (value, context, token). A value from the host is there at once, one from a device at the done.
func recv(c *Call) (*hlo.Literal, error) {
	if !hlo.AttrsOf[hlo.SendRecvAttrs](c.In).IsHostTransfer {
		if err := c.grid().Promise(c.In, c.e.here()); err != nil {
			return nil, err
		}
		return withContexts(c.In.Shape())
	}
	h, err := c.host()
	if err != nil {
		return nil, err
	}
	v, err := h.Recv(c.e.here(), c.In, c.In.Shape().Elem(0))
	if err != nil {
		return nil, err
	}
	return withContexts(c.In.Shape(), v)
}

// recvDone is (value, token).
func recvDone(c *Call) (*hlo.Literal, error) {
	v, err := part(c.Args[0], 0)
	if err != nil {
		return nil, err
	}
	if !hlo.AttrsOf[hlo.SendRecvAttrs](c.In).IsHostTransfer {
		got, err := c.letter()
		if err != nil {
			return nil, err
		}
		if got != nil {
			v = got
		}
	}
	t, err := token()
	return hlo.NewTupleLiteral(v, t), err
}

// letter waits for what another device sends; nil if none does.
func (c *Call) letter() (*hlo.Literal, error) {
	mesh := c.grid()
	type answer struct {
		v   *hlo.Literal
		err error
	}
	come := make(chan answer, 1)
	v, ready, err := mesh.Receipt(c.In, nameOf(c.In), c.e.here(), func(v *hlo.Literal, err error) {
		mesh.Rest(false)
		come <- answer{v, err}
	})
	if ready || err != nil {
		return v, err
	}
	mesh.Rest(true)
	a := <-come
	return a.v, a.err
}
