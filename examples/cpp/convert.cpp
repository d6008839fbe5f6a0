// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert IN.pt2 OUT.aimodel: a build step without Python. The asset shows
// lines of the model, but not where it lies on this machine.

#include "corten/API/Corten.h"

#include <iostream>

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: convert IN.pt2 OUT.aimodel\n";
    return 2;
  }
  corten::ProgramFile file;
  file.path = argv[1];
  corten::ConvertOptions options;
  options.sourcePaths = CORTEN_SOURCE_RELATIVE;
  corten::Result<corten::Model> model = corten::Model::convert({file}, options);
  if (!model) {
    std::cerr << "convert: " << model.error().message() << '\n';
    return 2;
  }
  if (corten::Status saved = model->save(argv[2]); !saved) {
    std::cerr << "convert: " << saved.error().message() << '\n';
    return 2;
  }
  return 0;
}
