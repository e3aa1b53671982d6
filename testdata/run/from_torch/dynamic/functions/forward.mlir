module @IrToHlo.99 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<3xi64>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3x8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8x4xf32>, %arg6: tensor<?x4xf32>) -> tensor<?x3xf32> {
    %c = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
    %c_0 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<2xi32>
    %c_2 = stablehlo.constant dense<8> : tensor<1xi32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.transpose %arg5, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[4,8]{0,1}"} : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.dot_general %arg6, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
    %2 = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg4, %4, dims = [1] : (tensor<8xf32>, tensor<2xi32>) -> tensor<?x8xf32>
    %6 = stablehlo.add %1, %5 : tensor<?x8xf32>
    %7 = stablehlo.get_dimension_size %6, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %8, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.maximum %9, %c_1 : tensor<2xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %6, %10, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xi32>) -> tensor<?x8xf32>
    %12 = stablehlo.dynamic_broadcast_in_dim %cst_3, %10, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %13 = stablehlo.maximum %11, %12 : tensor<?x8xf32>
    %14 = stablehlo.transpose %arg3, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,3]{0,1}"} : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %15 = stablehlo.dot_general %13, %14, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    %16 = stablehlo.get_dimension_size %15, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %17 = stablehlo.reshape %16 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.concatenate %17, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = stablehlo.dynamic_broadcast_in_dim %arg2, %18, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %20 = stablehlo.add %15, %19 : tensor<?x3xf32>
    %21 = stablehlo.get_dimension_size %20, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %22 = stablehlo.reshape %21 : (tensor<i32>) -> tensor<1xi32>
    %23 = stablehlo.concatenate %22, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %24 = stablehlo.maximum %23, %c : tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %20, %24, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %26 = stablehlo.dynamic_broadcast_in_dim %arg1, %24, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %27 = stablehlo.multiply %25, %26 : tensor<?x3xf32>
    %28 = stablehlo.get_dimension_size %27, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %29 = stablehlo.reshape %28 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %29, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %31 = stablehlo.maximum %30, %c : tensor<2xi32>
    %32 = stablehlo.dynamic_broadcast_in_dim %27, %31, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %33 = stablehlo.get_dimension_size %32, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %34 = stablehlo.reshape %33 : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.concatenate %34, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %36 = stablehlo.maximum %35, %c_1 : tensor<2xi32>
    %37 = stablehlo.dynamic_broadcast_in_dim %27, %36, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %38 = stablehlo.get_dimension_size %37, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %39 = stablehlo.reshape %38 : (tensor<i32>) -> tensor<1xi32>
    %40 = stablehlo.concatenate %39, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %41 = stablehlo.convert %arg0 : (tensor<3xi64>) -> tensor<3xf32>
    %42 = stablehlo.dynamic_broadcast_in_dim %41, %31, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %43 = stablehlo.get_dimension_size %42, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %44 = stablehlo.reshape %43 : (tensor<i32>) -> tensor<1xi32>
    %45 = stablehlo.concatenate %44, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %46 = stablehlo.maximum %40, %45 : tensor<2xi32>
    %47 = stablehlo.dynamic_broadcast_in_dim %27, %46, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %48 = stablehlo.dynamic_broadcast_in_dim %41, %46, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %49 = stablehlo.dynamic_broadcast_in_dim %cst, %36, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %50 = stablehlo.multiply %48, %49 : tensor<?x3xf32>
    %51 = stablehlo.add %47, %50 : tensor<?x3xf32>
    return %51 : tensor<?x3xf32>
  }
}
