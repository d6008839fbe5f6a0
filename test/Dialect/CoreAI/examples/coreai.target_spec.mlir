module {
  coreai.target_spec{spec = <triple = "t", soc = "s", delegateOptions = {}>, compilation = <partial>}
}

// -----

"builtin.module"() ({
  "coreai.target_spec"() <{compilation = #coreai.compilation<partial>, spec = #coreai.target_spec<triple = "t", soc = "s", delegateOptions = {}>}> : () -> ()
}) : () -> ()
