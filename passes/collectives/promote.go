package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/types"
)

const promotionDoc = `reduce between devices in a wider type

Devices often have no 16-bit integer reductions. from-to-types names pairs of types; promote-all-reduce-only leaves reduce-scatters alone.`

// NewAllReducePromotion makes the pass all-reduce-promotion.
func NewAllReducePromotion(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("from-to-types", "promote-all-reduce-only"); err != nil {
		return nil, err
	}
	only, err := o.Bool("promote-all-reduce-only")
	if err != nil {
		return nil, err
	}
	list, given := o.List("from-to-types")
	if !given {
		list = pass.List{"[u16,u32]", "[s16,s32]"}
	}
	pairs, err := types.Pairs(list)
	if err != nil {
		return nil, err
	}
	kinds := []hlo.Opcode{hlo.OpAllReduce, hlo.OpReduceScatter}
	if only {
		kinds = kinds[:1]
	}
	params := []pass.Param{{Name: "from-to-types", Doc: "pairs of types; [[u16,u32],[s16,s32]]"}, {Name: "promote-all-reduce-only", Doc: "leave reduce-scatters alone; false"}}
	return &pass.Pass{Name: "all-reduce-promotion", Doc: promotionDoc, Options: o, Params: params, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		return types.Change(ctx, m, pairs, func(in hlo.Instruction) bool { return slices.Contains(kinds, in.Opcode()) })
	}}, nil
}
