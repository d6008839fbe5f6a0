module {
  coreai.graph @main(%arg0: tensor<2x3xf32> {coreai.name = "a0"}) {
    debuginfo.record(%arg0 : tensor<2x3xf32>) 42
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xf32>) -> (), param_decls = #param.decl.array<[]>, res_attrs = [], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    "debuginfo.record"(%arg0) <{id = 42 : ui64}> : (tensor<2x3xf32>) -> ()
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
