// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <berth/error.hpp>
#include <sys/thread_probe.hpp>

#include "mpi_standin.hpp"

namespace berth {
namespace {

using sys::ThreadProbe;

void spin_here(std::atomic<bool> const& done) {
  while (!done.load(std::memory_order_relaxed)) {
  }
}

/// A thread in the place of the main thread, probed while it sits in `place`.
class Stage {
 public:
  explicit Stage(std::function<void(std::atomic<bool> const&)> place)
      : thread_([this, place = std::move(place)] {
          ThreadProbe own;
          probe_.store(&own);
          place(done_);
          while (!release_.load()) std::this_thread::yield();
        }) {
    while (probe_.load() == nullptr) std::this_thread::yield();
    // The probe is there a moment before the thread has entered `place`.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ~Stage() {
    done_.store(true);
    release_.store(true);
    thread_.join();
  }
  Stage(Stage const&) = delete;
  Stage& operator=(Stage const&) = delete;
  /// True when one of several samples finds the thread inside; on a crowded machine not all do.
  [[nodiscard]] bool is_found() {
    for (int i = 0; i < 200; ++i) {
      if (probe_.load()->sample()) return true;
    }
    return false;
  }
  /// True when none of several samples does.
  [[nodiscard]] bool is_never_found() {
    for (int i = 0; i < 10; ++i) {
      if (probe_.load()->sample()) return false;
    }
    return true;
  }

 private:
  std::atomic<bool> done_{false};
  std::atomic<bool> release_{false};
  std::atomic<ThreadProbe*> probe_{nullptr};
  std::thread thread_;
};

// Thread sanitizer holds signals back until the thread calls into its runtime.
#if defined(__SANITIZE_THREAD__)
#define BERTH_NEEDS_PROMPT_SIGNALS() GTEST_SKIP() << "signals are delayed by the sanitizer"
#else
#define BERTH_NEEDS_PROMPT_SIGNALS() static_cast<void>(0)
#endif

TEST(ThreadProbe, FindsAThreadThatSpinsInsideTheMpi) {
  BERTH_NEEDS_PROMPT_SIGNALS();
  Stage stage(test::spin_until);
  EXPECT_TRUE(stage.is_found());
}

TEST(ThreadProbe, FindsAThreadThatTheMpiHasPutToSleep) {
  BERTH_NEEDS_PROMPT_SIGNALS();
  Stage stage(test::sleep_until);
  EXPECT_TRUE(stage.is_found());
}

TEST(ThreadProbe, DoesNotFindAThreadThatLoopsInTheProgram) {
  BERTH_NEEDS_PROMPT_SIGNALS();
  Stage stage(spin_here);
  EXPECT_TRUE(stage.is_never_found());
}

TEST(ThreadProbe, DoesNotFindAThreadThatSleepsInTheProgram) {
  BERTH_NEEDS_PROMPT_SIGNALS();
  Stage stage([](std::atomic<bool> const& done) {
    while (!done.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  EXPECT_TRUE(stage.is_never_found());
}

TEST(ThreadProbe, GivesUpSoonOnAThreadThatDoesNotAnswer) {
  Stage stage([](std::atomic<bool> const& done) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    spin_here(done);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
  auto const start = std::chrono::steady_clock::now();
  EXPECT_TRUE(stage.is_never_found());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(ThreadProbe, SurvivesItsOwnEndWithAQuestionUnderWay) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  {
    ThreadProbe probe;
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::thread([&probe] { EXPECT_FALSE(probe.sample()); }).join();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ThreadProbe, IsOnePerProcess) {
  auto first = std::make_unique<ThreadProbe>();
  EXPECT_THROW(ThreadProbe(), Error);
  first.reset();
  EXPECT_NO_THROW(ThreadProbe());
}

TEST(ThreadProbe, KnowsLibrariesByTheirFileName) {
  using Kind = ThreadProbe::Kind;
  EXPECT_EQ(ThreadProbe::kind_of("/usr/lib/libmpi.so.40"), Kind::mpi);
  EXPECT_EQ(ThreadProbe::kind_of("/usr/lib/openmpi/mca_btl_vader.so"), Kind::mpi);
  EXPECT_EQ(ThreadProbe::kind_of("/lib/x86_64-linux-gnu/libc.so.6"), Kind::system);
  EXPECT_EQ(ThreadProbe::kind_of("/opt/libmpi/libsolver.so"), Kind::other);
  EXPECT_EQ(ThreadProbe::kind_of(""), Kind::other);
}

}  // namespace
}  // namespace berth
