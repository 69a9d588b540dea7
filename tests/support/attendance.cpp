// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <support/attendance.hpp>
#include <unistd.h>

#include <sys/mman.h>

namespace berth::test {

namespace {

void copy_text(char* target, std::size_t size, std::string const& text) {
  std::size_t const length = std::min(size - 1, text.size());
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

}  // namespace

Attendance::Attendance(std::string const& path, int rank, int size, std::string const& host,
                       std::chrono::seconds limit)
    : rank_(rank), size_(size), bytes_(static_cast<std::size_t>(size) * sizeof(Page)) {
  int const descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes_)) != 0) {
    throw std::runtime_error("attendance: cannot open " + path);
  }
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) throw std::runtime_error("attendance: cannot map " + path);
  pages_ = static_cast<Page*>(memory);  // the file is zero-filled, which is every page's start
  copy_text(pages_[rank_].host, sizeof(Page::host), host);
  copy_text(pages_[rank_].name, sizeof(Page::name), "start");
  watchdog_ = std::thread([this, limit] { watch(limit); });
}

Attendance::~Attendance() {
  done_.store(true);
  watchdog_.join();
  munmap(pages_, bytes_);
}

void Attendance::begin(std::string const& name) {
  copy_text(pages_[rank_].name, sizeof(Page::name), name);
  pages_[rank_].step.fetch_add(1 + pages_[rank_].step.load() % 2);
}

void Attendance::end() {
  pages_[rank_].step.fetch_add(1);
}

std::string Attendance::report(std::chrono::seconds limit) const {
  std::uint64_t furthest = 0;
  for (int rank = 0; rank < size_; ++rank) {
    furthest = std::max(furthest, pages_[rank].step.load());
  }
  std::string text = "[watchdog] " + std::to_string(limit.count()) + " s are over\n";
  for (int rank = 0; rank < size_; ++rank) {
    Page const& page = pages_[rank];
    std::uint64_t const step = page.step.load();
    text += "[watchdog] rank " + std::to_string(rank) + "@" + page.host +
            (step % 2 == 0 ? ": at the end of " : ": in ") + page.name +
            (step < furthest ? "  <- did not arrive" : "") + "\n";
  }
  return text;
}

void Attendance::watch(std::chrono::seconds limit) {
  using namespace std::chrono_literals;
  auto const end = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < end) {
    if (done_.load()) return;
    std::this_thread::sleep_for(10ms);
  }
  if (pages_[0].reported.exchange(1) == 0) {
    std::string const text = report(limit);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  } else {
    std::this_thread::sleep_for(500ms);  // the launcher ends the job with its first dead rank
  }
  _exit(1);
}

}  // namespace berth::test
