module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0 = coreai.constant dense<0> : tensor<ui32>
    %1 = coreai.scan %arg0, %0, %arg1 combiner = <sum> : (tensor<2xf32>, tensor<ui32>, tensor<i1>) -> tensor<2xf32> {test.note}
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "coreai.constant"() <{value = dense<0> : tensor<ui32>}> : () -> tensor<ui32>
    %1 = "coreai.scan"(%arg0, %0, %arg1) <{scan_op = 0 : i32}> {test.note} : (tensor<2xf32>, tensor<ui32>, tensor<i1>) -> tensor<2xf32>
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
