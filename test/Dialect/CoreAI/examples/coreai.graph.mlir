module {
  coreai.graph private noinline @my_op_abc(%arg0: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) attributes {composite_decl = #coreai.composite_declaration<"my_op" = {input_names = ["x"], op_attrs = {axis = 1 : si64, eps = 9.99999974E-6 : f32, flag = true}, output_names = ["y"]}>, template_op = "my_op"} {
    coreai.output %arg0 : tensor<2xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "x"}], composite_decl = #coreai.composite_declaration<"my_op" = {input_names = ["x"], op_attrs = {axis = 1 : si64, eps = 9.99999974E-6 : f32, flag = true}, output_names = ["y"]}>, function_type = (tensor<2xf32>) -> tensor<2xf32>, no_inline, param_decls = #param.decl.array<[]>, priv, res_attrs = [{coreai.name = "y"}], sym_name = "my_op_abc"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "coreai.output"(%arg0) : (tensor<2xf32>) -> ()
  }) {template_op = "my_op"} : () -> ()
}) : () -> ()
