// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "log.hpp"

#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <mutex>
#include <string>

#include <unistd.h>

#include <sys/syscall.h>

#include "settings.hpp"

namespace standin {
namespace {

enum class Level { none, version, warn, info };

constexpr std::size_t most_line_bytes = 1024;
thread_local int shown_device = -1;

Level level_of(std::string const& word) {
  if (word == "VERSION") return Level::version;
  if (word == "WARN") return Level::warn;
  if (word == "INFO" || word == "ABORT" || word == "TRACE") return Level::info;
  return Level::none;  // an unknown word silences NCCL too
}

/// The log file and the last error: one of each in a process, as in NCCL.
struct Log {
  std::mutex mutex;
  Level level = level_of(setting("NCCL_DEBUG"));
  std::FILE* file = stdout;
  std::string last;
  bool version_said = false;

  Log() {
    std::string path;
    std::string const pattern = setting("NCCL_DEBUG_FILE");
    for (std::size_t at = 0; at < pattern.size(); ++at) {
      if (pattern[at] != '%' || at + 1 == pattern.size()) {
        path += pattern[at];
        continue;
      }
      switch (pattern[++at]) {
        case 'h':
          path += host_name();
          break;
        case 'p':
          path += std::to_string(getpid());
          break;
        case '%':
          path += '%';
          break;
        default:
          path += std::string("%") + pattern[at];
      }
    }
    if (level <= Level::version || path.empty()) return;
    std::FILE* const opened = std::fopen(path.c_str(), "we");
    if (opened != nullptr) file = opened;
  }
};

Log& log() {
  static Log* const the = new Log;  // never destroyed: threads may write until the process ends
  return *the;
}

std::string prefix() {
  return text("%s:%d:%ld [%d] ", host_name().c_str(), getpid(), syscall(SYS_gettid),
              shown_device < 0 ? 0 : shown_device);
}

void write_line(std::string line) {
  if (line.size() > most_line_bytes - 1) line.resize(most_line_bytes - 1);
  std::fprintf(log().file, "%s\n", line.c_str());
  std::fflush(log().file);
}

}  // namespace

std::string text(char const* format, ...) {
  char line[4096];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::string const whole = name;
  return whole.substr(0, whole.find('.'));
}

unsigned long long hash(std::string const& bytes) {
  unsigned long long value = 14695981039346656037ULL;
  for (char const byte : bytes) {
    value = (value ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  }
  return value;
}

unsigned long long host_hash() {
  std::string const given = setting("NCCL_HOSTID");
  if (!given.empty()) return hash(given);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return hash(host_name() + boot);
}

void log_device(int device) {
  shown_device = device;
}

void info(std::string const& message) {
  std::lock_guard const lock(log().mutex);
  if (log().level >= Level::info) write_line(prefix() + "NCCL INFO " + message);
}

void warn(std::string const& message) {
  std::lock_guard const lock(log().mutex);
  log().last = message;
  if (log().level < Level::warn) return;
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char stamp[32] = "";
  std::strftime(stamp, sizeof stamp, "[%Y-%m-%d %H:%M:%S] ", &parts);
  write_line("\n" + std::string(stamp) + prefix() + "standin.cc:1 NCCL WARN " + message);
}

void fail(ncclResult_t result, std::string const& message) {
  warn(message);
  throw Failure{result};
}

void say_version() {
  std::lock_guard const lock(log().mutex);
  if (log().version_said || log().level < Level::version) return;
  log().version_said = true;
  int const code = version();
  write_line(text("NCCL version %d.%d.%d+cuda%d.%d", code / 10000, code / 100 % 100, code % 100,
                  CUDART_VERSION / 1000, CUDART_VERSION / 10 % 100));
}

char const* last_error() {
  thread_local std::string copy;
  std::lock_guard const lock(log().mutex);
  copy = log().last;
  return copy.c_str();
}

}  // namespace standin
