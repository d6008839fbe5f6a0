module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0 = coreai.constant dense<[1, 0]> : tensor<2xsi32>
    %1 = coreai.constant dense<0> : tensor<si32>
    %2 = coreai.scatter_along_axis %arg0, %0, %arg0, %1 : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %3 = coreai.scatter_along_axis %arg0, %0, %arg0, %1 scatter_mode = <sub> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %4 = coreai.scatter_along_axis %arg0, %0, %arg0, %1 scatter_mode = <mul> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %5 = coreai.scatter_along_axis %arg0, %0, %arg0, %1 scatter_mode = <div> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %6 = coreai.scatter_along_axis %arg0, %0, %arg0, %1 scatter_mode = <max> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %7 = coreai.scatter_along_axis %arg0, %0, %arg0, %1 scatter_mode = <min> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "coreai.constant"() <{value = dense<[1, 0]> : tensor<2xsi32>}> : () -> tensor<2xsi32>
    %1 = "coreai.constant"() <{value = dense<0> : tensor<si32>}> : () -> tensor<si32>
    %2 = "coreai.scatter_along_axis"(%arg0, %0, %arg0, %1) <{scatter_mode = #coreai.scatter_mode<update>}> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %3 = "coreai.scatter_along_axis"(%arg0, %0, %arg0, %1) <{scatter_mode = #coreai.scatter_mode<sub>}> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %4 = "coreai.scatter_along_axis"(%arg0, %0, %arg0, %1) <{scatter_mode = #coreai.scatter_mode<mul>}> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %5 = "coreai.scatter_along_axis"(%arg0, %0, %arg0, %1) <{scatter_mode = #coreai.scatter_mode<div>}> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %6 = "coreai.scatter_along_axis"(%arg0, %0, %arg0, %1) <{scatter_mode = #coreai.scatter_mode<max>}> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    %7 = "coreai.scatter_along_axis"(%arg0, %0, %arg0, %1) <{scatter_mode = #coreai.scatter_mode<min>}> : (tensor<2xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<2xf32>
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
