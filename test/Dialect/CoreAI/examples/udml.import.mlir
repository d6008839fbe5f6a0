module {
  udml.import [MLIR] @aModule
}

// -----

"builtin.module"() ({
  "udml.import"() <{import_type = 0 : i32, sym_name = "aModule"}> : () -> ()
}) : () -> ()
