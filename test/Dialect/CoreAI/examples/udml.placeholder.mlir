module {
  udml.func @f(%arg0: f32) -> f32 {
    %0 = placeholder "my.operation"(%arg0) {attr1 = "foo"} : (f32) -> f32
    return %0 : f32
  }
}

// -----

"builtin.module"() ({
  "udml.func"() <{function_type = (f32) -> f32, lifecycle_phases = #udml.lifecycle<stateless>, param_decls = #param.decl.array<[]>, sym_name = "f"}> ({
  ^bb0(%arg0: f32):
    %0 = "udml.placeholder"(%arg0) <{opname = "my.operation"}> {attr1 = "foo"} : (f32) -> f32
    "udml.return"(%0) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
