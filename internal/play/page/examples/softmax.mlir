// Softmax over rows, as JAX lowers it.
module @softmax {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %most = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %wide = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %shifted = stablehlo.subtract %x, %wide : tensor<4x8xf32>
    %e = stablehlo.exponential %shifted : tensor<4x8xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %r = stablehlo.divide %e, %sums : tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }
}
