module {
  udml.class @Foo {
    member @bar : f32
  }
}

// -----

"builtin.module"() ({
  "udml.class"() <{param_decls = #param.decl.array<[]>, sym_name = "Foo"}> ({
    "udml.member"() <{sym_name = "bar", type = f32}> : () -> ()
  }) : () -> ()
}) : () -> ()
