module {
  udml.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}

// -----

"builtin.module"() ({
  "udml.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, lifecycle_phases = #udml.lifecycle<stateless>, param_decls = #param.decl.array<[]>, sym_name = "f"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "udml.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
