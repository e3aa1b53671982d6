module @IrToHlo.28 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<2xf32>, %arg2: tensor<3xf32>, %arg3: tensor<f32>, %arg4: tensor<2x3xf32>, %arg5: tensor<f64>) -> (tensor<2x3xf32>, tensor<3xi1>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.multiply %arg4, %0 : tensor<2x3xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x3xf32>
    %4 = stablehlo.slice %arg1 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %7 = stablehlo.add %3, %6 : tensor<2x3xf32>
    %8 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %9 = stablehlo.add %7, %8 : tensor<2x3xf32>
    %10 = stablehlo.convert %arg2 : (tensor<3xf32>) -> tensor<3xf64>
    %11 = stablehlo.broadcast_in_dim %arg5, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %12 = stablehlo.compare  GT, %10, %11 : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
    return %9, %12 : tensor<2x3xf32>, tensor<3xi1>
  }
}
