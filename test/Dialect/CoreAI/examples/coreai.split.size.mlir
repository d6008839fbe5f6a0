module {
  coreai.graph @main(%arg0: tensor<8xf32>) {
    %0 = coreai.constant dense<3> : tensor<ui32>
    %1 = coreai.constant dense<0> : tensor<si32>
    %2:3 = coreai.split %arg0, %0, %1 : (tensor<8xf32>, tensor<ui32>, tensor<si32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) {test.note}
    %3 = coreai.constant dense<8> : tensor<ui32>
    %4 = coreai.split %arg0, %3, %1 : (tensor<8xf32>, tensor<ui32>, tensor<si32>) -> (tensor<8xf32>) {test.note}
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<8xf32>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<8xf32>):
    %0 = "coreai.constant"() <{value = dense<3> : tensor<ui32>}> : () -> tensor<ui32>
    %1 = "coreai.constant"() <{value = dense<0> : tensor<si32>}> : () -> tensor<si32>
    %2:3 = "coreai.split"(%arg0, %0, %1) {test.note} : (tensor<8xf32>, tensor<ui32>, tensor<si32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2xf32>)
    %3 = "coreai.constant"() <{value = dense<8> : tensor<ui32>}> : () -> tensor<ui32>
    %4 = "coreai.split"(%arg0, %3, %1) {test.note} : (tensor<8xf32>, tensor<ui32>, tensor<si32>) -> tensor<8xf32>
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
