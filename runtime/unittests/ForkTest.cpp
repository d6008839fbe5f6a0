// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes that fork while their threads are in calls.

#include "Plans.h"
#include "SamplePlans.h"

#include "../lib/Core/Sanitizers.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace corten::runtime;

/// Whether a call of some rows gives what it has to.
static bool isRight(const std::shared_ptr<Model> &model, int64_t rows) {
  Call call(model, model->functions()[0]);
  Owned<float> x({rows, 3});
  auto state = model->createState("s");
  if (!state || call.setInput(0, x.tensor) || call.setState("s", *state) ||
      call.run())
    return false;
  std::vector<double> wanted;
  for (int64_t i = 0; i != rows; ++i)
    wanted.insert(wanted.end(), {1, 0, 3});
  return numbersOf(call.output(0).tensor()) == wanted;
}

TEST(Fork, ChildrenCallWhatTheirParentsCall) {
  if (kHasThreadSanitizer)
    GTEST_SKIP() << "it knows no threads after a fork";
  LoadOptions options;
  options.check = false;
  options.threads = 2;
  std::shared_ptr<Model> model = loaded(straightLine(), options);
  ASSERT_TRUE(isRight(model, 4));
  std::atomic<bool> isEnd = false;
  std::vector<std::thread> threads;
  // Of sizes that change, so that frames and their memory come and go.
  for (int64_t t = 0; t != 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = 0; !isEnd; ++i)
        isRight(model, 1 + (i * (t + 1)) % 90);
    });
  for (int i = 0; i != 200 && !HasFailure(); ++i) {
    pid_t child = fork();
    if (child == 0) {
      // A child that waits for ever is to end.
      alarm(30);
      _exit(isRight(model, 4) && isRight(model, 100 + i) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  isEnd = true;
  for (std::thread &thread : threads)
    thread.join();
}
