package collectives

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

var loopParam = pass.Param{Name: "combine-while-loops", Doc: "merge in the bodies of loops, too; true"}
var dimParam = pass.Param{Name: "combine-by-dim", Doc: "merge only those along the same dimension; true"}

// NewAllReduceCombiner makes the pass all-reduce-combiner.
func NewAllReduceCombiner(o pass.Options) (*pass.Pass, error) {
	return newCombiner(o, "all-reduce-combiner", "all-reduces", &combiner{op: hlo.OpAllReduce, whileLoops: true, key: reduceKey})
}

// NewCPUAllReduceCombiner makes the pass cpu-all-reduce-combiner.
func NewCPUAllReduceCombiner(o pass.Options) (*pass.Pass, error) {
	return newCombiner(o, "cpu-all-reduce-combiner", "all-reduces", &combiner{op: hlo.OpAllReduce, whileLoops: true, key: reduceKey})
}

// reduceKey tells reductions apart; those whose computation is not one op are left alone.
func reduceKey(m hlo.Module, in hlo.Instruction) (string, bool) {
	r := factsOf(m, in).reducer
	return fmt.Sprint(r.op, in.Shape().Type()), r.ok
}

// NewAllGatherCombiner makes the pass all-gather-combiner.
func NewAllGatherCombiner(o pass.Options) (*pass.Pass, error) {
	mixed := pass.Param{Name: "combine-different-dtypes", Doc: "merge arrays of different element types; true"}
	byDim, err := o.BoolOr(dimParam.Name, true)
	if err != nil {
		return nil, err
	}
	types, err := o.BoolOr(mixed.Name, true)
	if err != nil {
		return nil, err
	}
	loops, err := o.BoolOr(loopParam.Name, true)
	if err != nil {
		return nil, err
	}
	return newCombiner(o, "all-gather-combiner", "all-gathers", &combiner{op: hlo.OpAllGather, whileLoops: loops,
		key: func(m hlo.Module, in hlo.Instruction) (string, bool) {
			key := ""
			if byDim {
				key = fmt.Sprint(factsOf(m, in).dims)
			}
			if !types {
				key += in.Shape().Type().String()
			}
			return key, byDim || in.Shape().IsStatic()
		}, along: alongUnless(byDim, func(attrs hlo.OpAttrs, dim int64) hlo.OpAttrs {
			a := *attrs.(*hlo.AllGatherAttrs)
			a.Dimensions = []int64{dim}
			return &a
		})}, dimParam, mixed, loopParam)
}

// NewReduceScatterCombiner makes the pass reduce-scatter-combiner.
func NewReduceScatterCombiner(o pass.Options) (*pass.Pass, error) {
	byDim, err := o.BoolOr(dimParam.Name, true)
	if err != nil {
		return nil, err
	}
	loops, err := o.BoolOr(loopParam.Name, true)
	if err != nil {
		return nil, err
	}
	return newCombiner(o, "reduce-scatter-combiner", "reduce-scatters", &combiner{op: hlo.OpReduceScatter, whileLoops: loops,
		key: func(m hlo.Module, in hlo.Instruction) (string, bool) {
			key, ok := reduceKey(m, in)
			if !byDim {
				return key, ok && in.Shape().IsStatic()
			}
			return key + fmt.Sprint(factsOf(m, in).dims), ok
		}, along: alongUnless(byDim, func(attrs hlo.OpAttrs, dim int64) hlo.OpAttrs {
			a := *attrs.(*hlo.ReduceScatterAttrs)
			a.Dimensions = []int64{dim}
			return &a
		})}, dimParam, loopParam)
}

func alongUnless(byDim bool, along func(hlo.OpAttrs, int64) hlo.OpAttrs) func(hlo.OpAttrs, int64) hlo.OpAttrs {
	if byDim {
		return nil
	}
	return along
}

// NewCollectivePermuteCombiner makes the pass collective-permute-combiner.
func NewCollectivePermuteCombiner(o pass.Options) (*pass.Pass, error) {
	return newCombiner(o, "collective-permute-combiner", "collective-permutes", &combiner{op: hlo.OpCollectivePermute, whileLoops: true,
		key: func(m hlo.Module, in hlo.Instruction) (string, bool) {
			return "", hlo.AttrsOf[hlo.CollectivePermuteAttrs](in).SliceSizes == nil
		}})
}
