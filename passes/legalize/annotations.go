package legalize

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// ShardingRemover removes what tells a partitioner how to divide a value, when there is one device only.
var ShardingRemover = &pass.Pass{
	Name:  "sharding-remover",
	About: []hlo.Opcode{hlo.OpCustomCall},
	Doc: `replace custom calls that only carry a sharding by their operand, in programs for one partition

These are Sharding, the conversions between the shape of a shard and of the whole, and their names in Shardy, and the barriers that stop shardings. With one partition a shard is the whole. Programs for several stay as they
are, and so do calls that change the shape.`,
	Lent: true, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		if m.Config().NumPartitions > 1 {
			return nil
		}
		return dropAnnotations(ctx, m, c, "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LocalToGlobalShape", "GlobalToLocalShape",
			"xla.sdy.Sharding", "xla.sdy.FuncResultSharding", "xla.sdy.LocalToGlobalShape", "xla.sdy.GlobalToLocalShape", "ShardBarrierFrom", "ShardBarrierTo")
	},
}

// PlacementRemover removes what tells in which memory a value is to be.
var PlacementRemover = &pass.Pass{
	Name:  "strip-memory-placement-annotations",
	About: []hlo.Opcode{hlo.OpCustomCall},
	Doc: `replace custom calls that only say in which memory a value belongs by their operand

These are annotate_device_placement, MoveToHost, MoveToDevice, PinToDevice and PinToHost. The processor has one memory.`,
	Lent: true, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		return dropAnnotations(ctx, m, c, "annotate_device_placement", "MoveToHost", "MoveToDevice", "PinToDevice", "PinToHost")
	},
}

// dropAnnotations replaces custom calls of one operand to the targets by that. Control dependencies keep a call, and so does a sharding that the
// operand does not have: it would be lost.
func dropAnnotations(ctx *pass.Context, m hlo.Module, c hlo.CompEdit, targets ...string) error {
	for in := range pass.EachOf(c, hlo.OpCustomCall) {
		if in.NumOperands() != 1 || !slices.Contains(targets, hlo.AttrsOf[hlo.CustomCallAttrs](in).Target) {
			continue
		}
		to := in.OperandInstr(0)
		if !to.Shape().Equal(in.Shape()) || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || m.Config().NumPartitions > 1 && in.Common() != nil &&
			in.Common().Sharding != nil || !ctx.Spend("annotation") {
			continue
		}
		if err := c.ReplaceInstruction(in.ID(), to.ID()); err != nil {
			return err
		}
		ctx.Count("annotations", 1)
	}
	return nil
}
