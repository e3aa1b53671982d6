package stablehlo

import (
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

func intText(v int64) []byte { return strconv.AppendInt(nil, v, 10) }

func (c *comp) rng(op *mlir.Op) {
	a := &hlo.RngAttrs{Distribution: hlo.RngUniform}
	if c.enum("rng_distribution") == "NORMAL" {
		a.Distribution = hlo.RngNormal
	}
	if !op.Results[0].Type.IsStatic() {
		c.notRefined(op)
	}
	c.set(c.add(hlo.OpRng, c.resultShape(0), a, c.operand(0), c.operand(1)))
}

// rngAlgorithms are the generators by their names in StableHLO.
var rngAlgorithms = []string{"DEFAULT", "THREE_FRY", "PHILOX"}

func (c *comp) rngBitGenerator(*mlir.Op) {
	a := &hlo.RngBitGeneratorAttrs{Algorithm: hlo.RandomAlgorithm(max(0, slices.Index(rngAlgorithms, c.enum("rng_algorithm"))))}
	c.setAll(c.add(hlo.OpRngBitGenerator, c.tupleShape(), a, c.operand(0)))
}

// infeed gives ((data...), token).
func (c *comp) infeed(op *mlir.Op) {
	n := len(op.Results) - 1
	if n < 0 || op.Results[n].Type.Kind != mlir.Token {
		c.fail(op, "the last result of '%s' is not a token", op.Name)
	}
	data := make([]hlo.Shape, n)
	layouts, _ := op.Attrs.Get("layout").(mlir.Array)
	for i := range data {
		data[i] = c.resultShape(i)
		if i < len(layouts) {
			if l, ok := mlir.Ints(layouts[i]); ok && len(l) == data[i].Rank() {
				data[i] = data[i].WithLayout(&hlo.Layout{MinorToMajor: l})
			}
		}
	}
	a := &hlo.InfeedAttrs{Config: stringOf(op.Attrs.Get("infeed_config"))}
	id := c.add(hlo.OpInfeed, hlo.MakeTuple(hlo.MakeTuple(data...), hlo.MakeToken()), a, c.operand(0))
	if n > 0 {
		all := c.element(id, 0)
		c.setElements(all, n)
	}
	c.values[&op.Results[n]] = c.element(id, 1)
}

func (c *comp) outfeed(op *mlir.Op) {
	ids := c.operands()
	n := len(ids) - 1
	data := c.tuple(ids[:n]...)
	a := &hlo.OutfeedAttrs{Shape: c.shape(data), Config: stringOf(op.Attrs.Get("outfeed_config"))}
	c.set(c.add(hlo.OpOutfeed, hlo.MakeToken(), a, data, ids[n]))
}

// channel is the handle of a channel; 0 when there is none.
func (c *comp) channel() int64 {
	s, ok := c.op.Attrs.Get("channel_handle").(mlir.Struct)
	if !ok {
		return 0
	}
	return c.fieldInt(s, "handle")
}

// channelID is the channel of a collective, absent when its handle is 0.
func (c *comp) channelID() hlo.OptInt {
	if h := c.channel(); h > 0 {
		return hlo.SomeInt(h)
	}
	return hlo.OptInt{}
}

func (c *comp) send(op *mlir.Op) {
	ids := c.operands()
	n := len(ids) - 1
	a := &hlo.SendRecvAttrs{ChannelID: hlo.SomeInt(c.channel()), IsHostTransfer: c.flag("is_host_transfer")}
	data := c.bundle(ids[:n])
	shape := hlo.MakeTuple(c.shape(data), arrayShape(hlo.U32), hlo.MakeToken())
	id := c.add(hlo.OpSend, shape, a, data, ids[n])
	done := *a
	c.set(c.add(hlo.OpSendDone, hlo.MakeToken(), &done, id))
}

func (c *comp) recv(op *mlir.Op) {
	n := len(op.Results) - 1
	if n < 0 || op.Results[n].Type.Kind != mlir.Token {
		c.fail(op, "the last result of '%s' is not a token", op.Name)
	}
	a := &hlo.SendRecvAttrs{ChannelID: hlo.SomeInt(c.channel()), IsHostTransfer: c.flag("is_host_transfer")}
	var data hlo.Shape
	if n == 1 {
		data = c.resultShape(0)
	} else {
		parts := make([]hlo.Shape, n)
		for i := range parts {
			parts[i] = c.resultShape(i)
		}
		data = hlo.MakeTuple(parts...)
	}
	id := c.add(hlo.OpRecv, hlo.MakeTuple(data, arrayShape(hlo.U32), hlo.MakeToken()), a, c.operand(0))
	doneAttrs := *a
	done := c.add(hlo.OpRecvDone, hlo.MakeTuple(data, hlo.MakeToken()), &doneAttrs, id)
	first := c.element(done, 0)
	if n == 1 {
		c.values[&op.Results[0]] = first
	} else {
		c.setElements(first, n)
	}
	c.values[&op.Results[n]] = c.element(done, 1)
}
