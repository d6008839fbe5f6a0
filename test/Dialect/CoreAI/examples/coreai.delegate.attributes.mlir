module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0 = coreai.delegate<"x">(%arg0) {arg_attrs = [{coreai.name = "a"}], delegate_attrs = {a = 1 : i32}, lifecycle = #udml.lifecycle<init>, res_attrs = [{coreai.name = "r"}], resource = array<i8: 1>, test.note = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "coreai.delegate"(%arg0) <{arg_attrs = [{coreai.name = "a"}], delegate_attrs = {a = 1 : i32}, delegate_id = "x", lifecycle = #udml.lifecycle<init>, res_attrs = [{coreai.name = "r"}], resource = array<i8: 1>}> {test.note = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
