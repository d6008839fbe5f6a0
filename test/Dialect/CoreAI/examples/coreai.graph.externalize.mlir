module {
  coreai.graph externalize noinline @main() attributes {a.b = 1 : i32, composite_decl = #coreai.composite_declaration<"q">, z.y} {
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{composite_decl = #coreai.composite_declaration<"q">, externalize, function_type = () -> (), no_inline, param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
    "coreai.output"() : () -> ()
  }) {a.b = 1 : i32, z.y} : () -> ()
}) : () -> ()
