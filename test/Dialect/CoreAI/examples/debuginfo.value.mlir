#loc = loc("a.py":3:1)
#local_variable = #debuginfo.local_variable<name = "x", line = #loc, scope = @main, alignInBits = 0> : !debuginfo.unresolved<tensor<2xf32>>
module {
  coreai.graph @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    debuginfo.value(%arg0 : tensor<2xf32>) #local_variable
    coreai.output %arg0 : tensor<2xf32>
  }
}

// -----

#loc = loc("a.py":3:1)
#local_variable = #debuginfo.local_variable<name = "x", line = #loc, scope = @main, alignInBits = 0> : !debuginfo.unresolved<tensor<2xf32>>
"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "debuginfo.value"(%arg0) <{variable = #local_variable}> : (tensor<2xf32>) -> ()
    "coreai.output"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
