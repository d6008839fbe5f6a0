// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// merge OUT.aimodel PREFILL DECODE: the two phases of a language model in one
// asset, each with the input "tokens". PREFILL is an asset, DECODE a NAME.pt2.

#include "corten/API/Corten.h"

#include <iostream>

static int fail(const corten::Error &error) {
  std::cerr << "merge: " << error.message() << '\n';
  return 2;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::cerr << "usage: merge OUT.aimodel PREFILL.aimodel DECODE.pt2\n";
    return 2;
  }
  corten::Result<corten::Model> prefill = corten::Model::open(argv[2]);
  if (!prefill)
    return fail(prefill.error());
  std::string first = prefill->entryPoints().at(0).inputs.at(0).name;
  if (corten::Status done =
          prefill->renameValues("main", CORTEN_INPUT, {"tokens"}, {first});
      !done)
    return fail(done.error());
  if (corten::Status done = prefill->renameEntryPoint("main", "prefill"); !done)
    return fail(done.error());

  corten::ProgramFile file;
  file.path = argv[3];
  file.name = "decode";
  file.inputNames = {"tokens"};
  corten::Result<corten::Model> decode = corten::Model::convert({file});
  if (!decode)
    return fail(decode.error());

  corten::Result<corten::Model> both =
      corten::Model::merge({&*prefill, &*decode});
  if (!both)
    return fail(both.error());
  corten::Metadata metadata;
  metadata.description = "both phases";
  if (corten::Status done = both->setMetadata(metadata); !done)
    return fail(done.error());
  if (corten::Status saved = both->save(argv[1]); !saved)
    return fail(saved.error());
  return 0;
}
