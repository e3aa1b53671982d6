package eval

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Host is the other side of infeed, outfeed, and of send and recv that go to the host. Its methods are called in the order of the
// program on each device, and by several goroutines at once when several devices run.
type Host interface {
	// Infeed is the next item, of shape s.
	Infeed(s hlo.Shape) (*hlo.Literal, error)
	// Outfeed takes an item.
	Outfeed(v *hlo.Literal) error
	// Send takes what in, a send, gives; Recv makes what in, a recv, wants.
	Send(in hlo.Instruction, v *hlo.Literal) error
	Recv(in hlo.Instruction, s hlo.Shape) (*hlo.Literal, error)
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
	v, err := h.Infeed(c.In.Shape().Elem(0))
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
	if err := h.Outfeed(c.Args[0]); err != nil {
		return nil, err
	}
	return token()
}

// send is (value, context, token).
func send(c *Call) (*hlo.Literal, error) {
	h, err := c.host()
	if err != nil {
		return nil, err
	}
	if err := h.Send(c.In, c.Args[0]); err != nil {
		return nil, err
	}
	return withContexts(c.In.Shape(), c.Args[0])
}

// recv is (value, context, token).
func recv(c *Call) (*hlo.Literal, error) {
	h, err := c.host()
	if err != nil {
		return nil, err
	}
	v, err := h.Recv(c.In, c.In.Shape().Elem(0))
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
	t, err := token()
	return hlo.NewTupleLiteral(v, t), err
}
