package distributed

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// parcel is what one process sends to another in an exchange. Long runs of bytes travel from and to their places; what is shorter is packed into one
// message, the first. Both sides make it from the same list of parts, so that it has the same form.
type parcel struct {
	packed []strided
	size   int // of the packed message
	long   [][]byte
}

// strided is count runs of bytes, whose starts are stride apart.
type strided struct {
	data               []byte
	run, stride, count int
}

// packLimit is the length up to which copying a run is cheaper than a message of its own.
const packLimit = 16 << 10

// add adds a part of an array of shape s, whose memory is data.
func (p *parcel) add(data []byte, s hlo.Shape, part devices.Part) {
	runs := strided{data, len(data), 0, 1}
	if !part.IsWhole() {
		inner, outer := s.Type().ByteSize(), 1
		for i := range s.Rank() {
			switch n := int(s.Dim(i)); {
			case i < part.Axis:
				outer *= n
			case i > part.Axis:
				inner *= n
			}
		}
		stride := int(s.Dim(part.Axis)) * inner
		runs = strided{data, int(part.Size) * inner, stride, outer}
		if runs.run*runs.count > 0 {
			runs.data = data[int(part.At)*inner:]
		}
	}
	switch {
	case runs.run*runs.count == 0:
	case runs.run < packLimit:
		p.packed = append(p.packed, runs)
		p.size += runs.run * runs.count
	default:
		for i := range runs.count {
			for run := runs.data[i*runs.stride:][:runs.run]; len(run) > 0; run = run[min(len(run), pieceSize):] {
				p.long = append(p.long, run[:min(len(run), pieceSize)])
			}
		}
	}
}

// send adds the messages to a batch.
func (p *parcel) send(b *batch, context, to, tag int) {
	if p.size > 0 {
		memory := make([]byte, 0, p.size)
		for _, s := range p.packed {
			for i := range s.count {
				memory = append(memory, s.data[i*s.stride:][:s.run]...)
			}
		}
		b.send(context, to, tag, memory)
	}
	for _, run := range p.long {
		b.send(context, to, tag, run)
	}
}

// bytes is all of it in one piece, and fill puts such bytes into their places.
func (p *parcel) bytes() (all []byte) {
	for _, s := range p.packed {
		for i := range s.count {
			all = append(all, s.data[i*s.stride:][:s.run]...)
		}
	}
	return append(all, slices.Concat(p.long...)...)
}

func (p *parcel) fill(all []byte) {
	for _, s := range p.packed {
		for i := range s.count {
			all = all[copy(s.data[i*s.stride:][:s.run], all):]
		}
	}
	for _, run := range p.long {
		all = all[copy(run, all):]
	}
}

// receive adds the messages to a batch. Afterwards, unpack puts what was packed into its places.
func (p *parcel) receive(b *batch, context, from, tag int) (unpack func()) {
	var memory []byte
	if p.size > 0 {
		memory = make([]byte, p.size)
		b.receive(context, from, tag, memory)
	}
	for _, run := range p.long {
		b.receive(context, from, tag, run)
	}
	return func() {
		for _, s := range p.packed {
			for i := range s.count {
				memory = memory[copy(s.data[i*s.stride:][:s.run], memory):]
			}
		}
	}
}
