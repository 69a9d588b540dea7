// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "status.hpp"

#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <sys/mman.h>

#include "log.hpp"

namespace standin {

Status::Status(Status&& other) noexcept
    : file_(std::move(other.file_)), page_(std::exchange(other.page_, nullptr)) {}

Status::~Status() {
  close();
}

void Status::create() {
  file_ = Descriptor(memfd_create("nccl-standin", MFD_CLOEXEC));
  if (!file_.valid() || ftruncate(file_.get(), sizeof(StatusPage)) != 0) {
    fail(ncclSystemError, "memfd_create failed");
  }
  map();
  if (page_ == nullptr) fail(ncclSystemError, "mmap failed");
  page_->init_state = ncclInProgress;
}

Status Status::of(Peer const& peer) {
  Status status;
  std::string const path =
      "/proc/" + std::to_string(peer.pid) + "/fd/" + std::to_string(peer.status);
  char target[64] = "";
  ssize_t const length = readlink(path.c_str(), target, sizeof target - 1);
  if (length <= 0 || std::string(target).find("nccl-standin") == std::string::npos) return status;
  status.file_ = Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (status.file_.valid()) status.map();
  return status;
}

void Status::map() {
  void* const at =
      mmap(nullptr, sizeof(StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (at != MAP_FAILED) page_ = static_cast<StatusPage*>(at);
}

void Status::close() {
  if (page_ != nullptr) munmap(page_, sizeof *page_);
  page_ = nullptr;
  file_.reset();
}

}  // namespace standin
