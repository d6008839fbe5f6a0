module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0 = coreai.constant dense_resource<weights> : tensor<2x2xf16>
    %1 = coreai.constant dense<true> : tensor<i1> {test.note}
    %2 = coreai.constant dense<[1, -2]> : tensor<2xsi4>
    %3 = coreai.constant dense<> : tensor<0xf32>
    %4 = coreai.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %5 = coreai.constant #coreai.typed_resource<image> : !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>
    %6 = coreai.constant dense<[0x7FC00000, 1.000000e+00, 0xFF800000]> : tensor<3xf32>
    %7 = coreai.constant #coreai.file_resource<"w.bin", 16 : i64> : tensor<2xf32>
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "coreai.constant"() <{value = dense_resource<weights> : tensor<2x2xf16>}> : () -> tensor<2x2xf16>
    %1 = "coreai.constant"() <{value = dense<true> : tensor<i1>}> {test.note} : () -> tensor<i1>
    %2 = "coreai.constant"() <{value = dense<[1, -2]> : tensor<2xsi4>}> : () -> tensor<2xsi4>
    %3 = "coreai.constant"() <{value = dense<> : tensor<0xf32>}> : () -> tensor<0xf32>
    %4 = "coreai.constant"() <{value = dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %5 = "coreai.constant"() <{value = #coreai.typed_resource<image> : !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>}> : () -> !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>
    %6 = "coreai.constant"() <{value = dense<[0x7FC00000, 1.000000e+00, 0xFF800000]> : tensor<3xf32>}> : () -> tensor<3xf32>
    %7 = "coreai.constant"() <{value = #coreai.file_resource<"w.bin", 16 : i64> : tensor<2xf32>}> : () -> tensor<2xf32>
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
