package stablehlo

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

func (c *comp) reduce(*mlir.Op) {
	a := &hlo.DimensionsAttrs{Dimensions: c.ints("dimensions")}
	ids := c.operands()
	c.setAll(c.addCalling(hlo.OpReduce, c.allShape(), a, []hlo.CompID{c.simpleRegion(0)}, ids...))
}

func (c *comp) reduceWindow(*mlir.Op) {
	a := &hlo.WindowAttrs{Window: c.window(c.ints("window_dimensions"), "base_dilations", "window_dilations")}
	ids := c.operands()
	c.setAll(c.addCalling(hlo.OpReduceWindow, c.allShape(), a, []hlo.CompID{c.simpleRegion(0)}, ids...))
}

func (c *comp) selectAndScatter(op *mlir.Op) {
	rank := c.shape(c.operand(0)).Rank()
	size := c.intsOr("window_dimensions", rank, 1)
	a := &hlo.WindowAttrs{Window: c.window(size, "no base dilation", "no window dilation")}
	ids := c.operands()
	sel := c.simpleRegion(0)
	c.set(c.addCalling(hlo.OpSelectAndScatter, c.resultShape(0), a, []hlo.CompID{sel, c.simpleRegion(1)}, ids...))
}

func (c *comp) mapOp(*mlir.Op) {
	ids := c.operands()
	a := &hlo.MapAttrs{Dimensions: c.ints("dimensions")}
	c.set(c.addCalling(hlo.OpMap, c.resultShape(0), a, []hlo.CompID{c.simpleRegion(0)}, ids...))
}

func (c *comp) sort(op *mlir.Op) {
	ids := c.operands()
	dim := c.intOr("dimension", -1)
	if dim < 0 {
		dim += int64(c.shape(ids[0]).Rank())
	}
	a := &hlo.SortAttrs{Dimensions: []int64{dim}, IsStable: c.flag("is_stable")}
	c.setAll(c.addCalling(hlo.OpSort, c.allShape(), a, []hlo.CompID{c.simpleRegion(0)}, ids...))
}

func (c *comp) scatter(*mlir.Op) {
	d := c.record("scatter_dimension_numbers")
	a := &hlo.ScatterAttrs{
		UpdateWindowDims: c.field(d, "update_window_dims"), InsertedWindowDims: c.field(d, "inserted_window_dims"),
		ScatterDimsToOperandDims: c.field(d, "scatter_dims_to_operand_dims"), InputBatchingDims: c.field(d, "input_batching_dims"),
		ScatterIndicesBatchingDims: c.field(d, "scatter_indices_batching_dims"), IndexVectorDim: c.fieldInt(d, "index_vector_dim"),
		IndicesAreSorted: c.flag("indices_are_sorted"), UniqueIndices: c.flag("unique_indices"),
	}
	ids := c.operands()
	c.setAll(c.addCalling(hlo.OpScatter, c.allShape(), a, []hlo.CompID{c.simpleRegion(0)}, ids...))
}
