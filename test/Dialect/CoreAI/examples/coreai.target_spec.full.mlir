module {
  coreai.target_spec{spec = <triple = "t", soc = "s", delegateOptions = {a = 1 : i32}>, compilation = <full> {test.note}}
}

// -----

"builtin.module"() ({
  "coreai.target_spec"() <{compilation = #coreai.compilation<full>, spec = #coreai.target_spec<triple = "t", soc = "s", delegateOptions = {a = 1 : i32}>}> {test.note} : () -> ()
}) : () -> ()
