module {
  udml.namespace @N {
    coreai.graph @g(%arg0: tensor<2xf32>) -> tensor<2xf32> {
      coreai.output %arg0 : tensor<2xf32>
    }
  }
}

// -----

"builtin.module"() ({
  "udml.namespace"() <{param_decls = #param.decl.array<[]>, sym_name = "N"}> ({
    "coreai.graph"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, param_decls = #param.decl.array<[]>, sym_name = "g"}> ({
    ^bb0(%arg0: tensor<2xf32>):
      "coreai.output"(%arg0) : (tensor<2xf32>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
