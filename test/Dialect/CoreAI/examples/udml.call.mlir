module {
  udml.func @f(%arg0: f32) -> f32 {
    return %arg0 : f32
  }
  udml.func @g(%arg0: f32) -> f32 {
    %0 = call @f(%arg0)  : (f32) -> f32
    return %0 : f32
  }
}

// -----

"builtin.module"() ({
  "udml.func"() <{function_type = (f32) -> f32, lifecycle_phases = #udml.lifecycle<stateless>, param_decls = #param.decl.array<[]>, sym_name = "f"}> ({
  ^bb0(%arg1: f32):
    "udml.return"(%arg1) : (f32) -> ()
  }) : () -> ()
  "udml.func"() <{function_type = (f32) -> f32, lifecycle_phases = #udml.lifecycle<stateless>, param_decls = #param.decl.array<[]>, sym_name = "g"}> ({
  ^bb0(%arg0: f32):
    %0 = "udml.call"(%arg0) <{callee = #param.constant<@f> : !param.symbol, lifecycle_phases = #udml.lifecycle<stateless>}> : (f32) -> f32
    "udml.return"(%0) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
