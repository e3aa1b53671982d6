module @m {
  sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
  sdy.mesh @one = <[], device_ids=[3]>
  sdy.mesh @ids = <["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {"y":(2)2}], replicated={"z"}>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"a", ?}, {?}]>}, %arg2: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", ?}p5, {?}], unreduced={"x", "y":(1)2}>}) -> (tensor<8x16xf32>, tensor<2x4xf32>, tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) {
    %0 = sdy.constant dense<1.000000e+00> : tensor<8x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
    %2 = sdy.reshard %1 <@ids, [{"x", "y"}, {}]> : tensor<8x16xf32>
    sdy.sharding_group %2 group_id=7 : tensor<8x16xf32>
    %3 = sdy.propagation_barrier %2 allowed_direction=BACKWARD : tensor<8x16xf32>
    %4 = sdy.manual_computation(%3, %arg1) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%arg3: tensor<4x4xf32>, %arg4: tensor<4x4xf32>) {
      %12 = stablehlo.add %arg3, %arg4 : tensor<4x4xf32>
      sdy.return %12 : tensor<4x4xf32>
    } : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %5 = sdy.named_computation<"foo">(%4) (%arg3: tensor<8x16xf32>) {
      %12 = stablehlo.sine %arg3 : tensor<8x16xf32>
      sdy.return %12 : tensor<8x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %6 = sdy.named_computation<"bar">(%5) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] (%arg3: tensor<8x16xf32>) {
      %12 = stablehlo.sine %arg3 : tensor<8x16xf32>
      sdy.return %12 : tensor<8x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %7 = sdy.data_flow_edge %6 sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>
    %8 = stablehlo.add %7, %0 {mine = #sdy<manual_axes{"x"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x16xf32>
    %9 = stablehlo.custom_call @bar(%8, %arg2) {mine.a = #sdy<axis_ref_list{"x", "y":(2)2}>, mine.b = #sdy<list_of_axis_ref_lists[{"x"}, {}]>, mine.c = #sdy<all_to_all_param{"x"}: 0->1>, mine.d = #sdy<all_to_all_param_list[{"x"}: 0->1, {"y"}: 1->0]>, mine.e = #sdy.mesh<["a"=2], device_ids=[1, 0]>, mine.f = #sdy<dimension_sharding{"x", ?}>, mine.g = #sdy<axis_ref"y">, sdy.sharding_rule = #sdy.op_sharding_rule<([ij, l], [k, mn])->([i, m]) {i=2, j=4, k=8, l=16, m=4, n=4} reduction={k} need_replication={l} permutation={j} blocked_propagation={n}, custom>} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<2x4xf32>
    %10 = stablehlo.custom_call @baz(%cst) {sdy.sharding_rule = #sdy.op_sharding_rule<([])->([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1, z_2]) {i=1, j=1, k=1, l=1, m=1, n=1, o=1, p=1, q=1, r=1, s=1, t=1, u=1, v=1, w=1, x=1, y=1, z=1, z_1=1, z_2=1}>} : (tensor<f32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
    %11 = stablehlo.custom_call @foo(%8) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16}, custom>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %11, %9, %10 : tensor<8x16xf32>, tensor<2x4xf32>, tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  }
}
