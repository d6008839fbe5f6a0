// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inspect ASSET: what an asset takes and gives, and what is wrong with it.

#include "corten/API/Corten.h"

#include <iostream>

static void print(const char *role, const std::vector<corten::Value> &values) {
  for (const corten::Value &value : values) {
    std::cout << "  " << role << ' ' << value.name << ": " << value.elementType
              << '[';
    const char *separator = "";
    for (const corten::Dimension &dim : value.shape) {
      std::cout << separator;
      if (dim.size)
        std::cout << *dim.size;
      else
        std::cout << '?';
      separator = ", ";
    }
    std::cout << "]\n";
  }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: inspect ASSET\n";
    return 2;
  }
  corten::Result<corten::Model> model = corten::Model::open(argv[1]);
  if (!model) {
    std::cerr << "inspect: " << model.error().message() << '\n';
    return 2;
  }
  for (const corten::EntryPoint &entry : model->entryPoints()) {
    std::cout << entry.name << '\n';
    print("input", entry.inputs);
    print("output", entry.outputs);
    print("state", entry.states);
  }
  auto findings = corten::examine(argv[1]);
  if (!findings) {
    std::cerr << "inspect: " << findings.error().message() << '\n';
    return 2;
  }
  int status = 0;
  for (const corten::Finding &finding : *findings) {
    std::cout << finding.check << ": " << finding.place << '\n';
    if (finding.severity != CORTEN_NOTE)
      status = 1;
  }
  return status;
}
