package halocmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
)

// feedFlags say what the host gives to a program that asks, and where it puts what it gets.
type feedFlags struct {
	Infeed  string `help:"Arrays for infeeds, leaf by leaf in the order of the program: keys 0, 1, ... or, for one device alone, d0/0, ... Without it --fill makes them." placeholder:"FILE.npz"`
	Outfeed string `help:"Write the values of outfeeds to this file, keys as of --infeed." placeholder:"FILE.npz"`
}

// host is the other side of a program's infeeds, outfeeds and host transfers, for one run. Values that are sent to it on a channel are there to be
// received on that channel.
type host struct {
	c     *runCmd
	grid  grid
	given map[string]*npz.Array

	mu   sync.Mutex
	next map[eval.Device]int
	out  map[eval.Device][]*hlo.Literal
	mail map[int64][]*hlo.Literal
}

func (f *feedFlags) host(c *runCmd, g grid) (*host, error) {
	h := &host{c: c, grid: g, next: map[eval.Device]int{}, out: map[eval.Device][]*hlo.Literal{}, mail: map[int64][]*hlo.Literal{}}
	if f.Infeed != "" {
		given, err := arrays.ReadNPZ(f.Infeed)
		if err != nil {
			return nil, fmt.Errorf("%s: error: %w", f.Infeed, unwrapPath(err))
		}
		h.given = given
	}
	return h, nil
}

// Infeed implements eval.Host.
func (h *host) Infeed(d eval.Device, s hlo.Shape) (*hlo.Literal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.item(d, s)
}

// item makes the next item of a device, leaf by leaf.
func (h *host) item(d eval.Device, s hlo.Shape) (*hlo.Literal, error) {
	if s.IsTuple() {
		parts := make([]*hlo.Literal, s.NumElems())
		for i := range parts {
			var err error
			if parts[i], err = h.item(d, s.Elem(i)); err != nil {
				return nil, err
			}
		}
		return hlo.NewTupleLiteral(parts...), nil
	}
	n := h.next[d]
	h.next[d]++
	a := h.given[fmt.Sprintf("d%d/%d", h.number(d), n)]
	if a == nil {
		a = h.given[strconv.Itoa(n)]
	}
	switch {
	case a != nil:
		return arrays.Literal(a, s)
	case h.given != nil:
		return nil, fmt.Errorf("%s has no array %d", h.c.Feeds.Infeed, n)
	case h.c.Fill != "":
		return arrays.Fill(arrays.FillKind(h.c.Fill), h.c.Seed, n, s)
	}
	return nil, fmt.Errorf("no item to feed in: give --infeed or --fill")
}

func (h *host) number(d eval.Device) int { return d.Replica*h.grid.partitions + d.Partition }

// Outfeed implements eval.Host.
func (h *host) Outfeed(d eval.Device, v *hlo.Literal) error {
	if h.c.Feeds.Outfeed == "" { // nobody reads them, and a program may feed out for ever
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range v.Leaves() {
		if l.Shape().IsToken() {
			continue
		}
		c, err := copied(l)
		if err != nil {
			return err
		}
		h.out[d] = append(h.out[d], c)
	}
	return nil
}

// Send implements eval.Host.
func (h *host) Send(_ eval.Device, in hlo.Instruction, v *hlo.Literal) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	channel := hlo.AttrsOf[hlo.SendRecvAttrs](in).ChannelID.Value
	c, err := copied(v)
	h.mail[channel] = append(h.mail[channel], c)
	return err
}

// copied is an array of its own: what a program gives away lies in memory that it uses again.
func copied(l *hlo.Literal) (*hlo.Literal, error) {
	if !l.Shape().IsArray() {
		return nil, fmt.Errorf("the host takes arrays, not %v", l.Shape())
	}
	return hlo.NewLiteral(l.Shape(), bytes.Clone(l.Bytes()))
}

// Recv implements eval.Host.
func (h *host) Recv(_ eval.Device, in hlo.Instruction, s hlo.Shape) (*hlo.Literal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	channel := hlo.AttrsOf[hlo.SendRecvAttrs](in).ChannelID.Value
	sent := h.mail[channel]
	switch {
	case len(sent) > 0 && sent[0].Shape().Compatible(s):
		h.mail[channel] = sent[1:]
		return sent[0], nil
	case h.c.Fill != "":
		return arrays.Fill(arrays.FillKind(h.c.Fill), h.c.Seed, int(channel), s)
	}
	return nil, fmt.Errorf("nothing was sent to the host on channel %d: --fill would make something up", channel)
}

// writeOutfeed writes what was fed out: in a job, rank 0 writes it for all, unless each process has a file of its own.
func (h *host) writeOutfeed(ctx context.Context, e *env) error {
	path, own := e.ownFile(h.c.Feeds.Outfeed)
	if path == "" {
		return nil
	}
	all := make([][]*hlo.Literal, h.grid.devices())
	for d, items := range h.out {
		all[h.number(d)] = items
	}
	mine := named(h.grid, all)
	if e.job == nil || own {
		return create(path, func(w io.Writer) error { return arrays.WriteNPZ(w, mine) })
	}
	var packed bytes.Buffer
	if err := arrays.WriteNPZ(&packed, mine); err != nil {
		return err
	}
	parts, err := e.job.Gather(ctx, "collecting what was fed out", packed.Bytes())
	if err != nil || parts == nil {
		return err
	}
	var entries []npz.Named
	for _, part := range parts {
		theirs, err := npz.ReadNPZ(bytes.NewReader(part), int64(len(part)))
		if err != nil {
			return err
		}
		entries = append(entries, theirs...)
	}
	return create(path, func(w io.Writer) error { return npz.WriteNPZ(w, entries) })
}
