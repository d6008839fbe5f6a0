// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of one algorithm, not OpenSSL's EVP layer: they bring nothing
// else of the library into the binary.

#define OPENSSL_SUPPRESS_DEPRECATED

#include "corten/Support/Digest.h"

#include <openssl/sha.h>

using namespace corten;

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state(std::make_unique<State>()) {
  SHA256_Init(&state->context);
}

Sha256::~Sha256() = default;

void Sha256::update(llvm::ArrayRef<char> bytes) {
  SHA256_Update(&state->context, bytes.data(), bytes.size());
}

Digest Sha256::finish() {
  Digest digest;
  SHA256_Final(digest.data(), &state->context);
  return digest;
}

Digest corten::sha256(llvm::ArrayRef<char> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}
