// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <base/error.hpp>
#include <base/units.hpp>
#include <sys/descriptor.hpp>
#include <sys/host.hpp>
#include <sys/mman.h>
#include <sys/shared_memory.hpp>
#include <sys/stat.h>

namespace berth::sys {
namespace {

// Since Linux 6.3: the memory can never be executed; some sites demand it.
constexpr unsigned noexec_seal = 0x0008U;
constexpr std::size_t token_bytes = sizeof(SharedTicket::token);

std::size_t mapped_bytes(std::size_t bytes) {
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) {
    base::fail(Errc::out_of_memory,
               "shared memory of " + base::format_bytes(bytes) + " is too much");
  }
  return (bytes + token_bytes + page - 1) / page * page;
}

Descriptor make_memfd() {
  Descriptor file(memfd_create("berth", MFD_CLOEXEC | MFD_ALLOW_SEALING | noexec_seal));
  if (!file.valid() && errno == EINVAL) {
    file = Descriptor(memfd_create("berth", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  }
  if (!file.valid()) base::fail_errno("memfd_create", errno);
  return file;
}

// Creates a file of a fresh random name and writes the name into the ticket.
Descriptor make_named(SharedTicket& ticket) {
  unsigned long long random[2] = {0, 0};
  random_bytes(random, sizeof random);
  std::string const name = fmt::format("/berth-{:016x}{:016x}", random[0], random[1]);
  Descriptor file(shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) base::fail_errno("shm_open", errno);
  std::memcpy(ticket.name, name.c_str(), name.size() + 1);
  return file;
}

// What the kernel could give without swapping, in bytes; 0: not known.
std::size_t available_memory() {
  std::string const text = read_small_file("/proc/meminfo");
  std::string_view const key = "MemAvailable:";
  std::size_t const at = text.find(key);
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + key.size(), nullptr, 10) * 1024;
}

[[noreturn]] void fail_no_room(std::size_t bytes, std::string_view advice) {
  base::fail(Errc::out_of_memory,
             fmt::format("no room for {} of shared memory: {}", base::format_bytes(bytes), advice));
}

// Reserves every page, so that a full file system is an error now and not a SIGBUS later.
void reserve(int descriptor, std::size_t bytes, SharedKind kind) {
  // A memfd has no limit of its own: without this the kernel would kill somebody to make room.
  std::size_t const available = available_memory();
  if (available > 0 && bytes > available) {
    fail_no_room(bytes, "this machine has only " + base::format_bytes(available) + " left");
  }
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (error == 0) return;
  if (error == ENOSPC || error == ENOMEM || error == EFBIG) {
    fail_no_room(bytes, kind == SharedKind::memfd
                            ? "the memory limit of the job or container is reached"
                            : "/dev/shm is too small; raise its size (docker: --shm-size)");
  }
  base::fail_errno("reserving " + base::format_bytes(bytes) + " of shared memory", error);
}

void seal(int descriptor) {
  if (fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    base::fail_errno("sealing shared memory", errno);
  }
}

std::byte* map(int descriptor, std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) base::fail_errno("mapping " + base::format_bytes(bytes), errno);
  return static_cast<std::byte*>(at);
}

[[noreturn]] void fail_peer(SharedTicket const& ticket, std::string_view reason) {
  base::fail(Errc::system,
             fmt::format("the shared memory of process {} cannot be used: {}", ticket.pid, reason));
}

// Throws unless `status` is of the file that the ticket means.
void check_file(SharedTicket const& ticket, struct stat const& status) {
  if (!S_ISREG(status.st_mode) || status.st_ino != ticket.inode || status.st_dev != ticket.device) {
    fail_peer(ticket, "another file is found in its place (other host or PID namespace?)");
  }
  if (static_cast<unsigned long long>(status.st_size) != ticket.bytes) {
    fail_peer(ticket, "its size differs");
  }
}

Descriptor open_memfd(SharedTicket const& ticket) {
  std::string const path = fmt::format("/proc/{}/fd/{}", ticket.pid, ticket.descriptor);
  struct stat status {};
  // Looked at before it is opened: opening somebody else's device or FIFO has side effects.
  if (stat(path.c_str(), &status) != 0) base::fail_errno(path, errno);
  check_file(ticket, status);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file.valid()) base::fail_errno(path, errno);
  int const seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) fail_peer(ticket, "it is not sealed");
  return file;
}

Descriptor open_named(SharedTicket const& ticket) {
  std::string const name(ticket.name, strnlen(ticket.name, sizeof ticket.name));
  if (name.rfind("/berth-", 0) != 0 || name.find('/', 1) != std::string::npos) {
    fail_peer(ticket, "its name is not one of Berth's");
  }
  Descriptor file(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
  if (!file.valid()) base::fail_errno("shm_open " + name, errno);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) base::fail_errno("fstat", errno);
  if (status.st_uid != geteuid() || (status.st_mode & 0777) != 0600) {
    fail_peer(ticket, "owner or mode differ");
  }
  return file;
}

}  // namespace

SharedMemory SharedMemory::create(std::size_t bytes, SharedKind kind) {
  SharedMemory made;
  std::size_t const mapped = mapped_bytes(bytes);
  made.ticket_.kind = static_cast<int>(kind);
  made.ticket_.pid = getpid();
  // From here on `made` owns descriptor and name: whatever throws leaves nothing behind.
  made.descriptor_ =
      (kind == SharedKind::memfd ? make_memfd() : make_named(made.ticket_)).release();
  reserve(made.descriptor_, mapped, kind);
  if (kind == SharedKind::memfd) seal(made.descriptor_);
  struct stat status {};
  if (fstat(made.descriptor_, &status) != 0) base::fail_errno("fstat", errno);
  made.data_ = map(made.descriptor_, mapped);
  made.mapped_ = mapped;
  made.size_ = mapped - token_bytes;
  made.ticket_.descriptor = kind == SharedKind::memfd ? made.descriptor_ : -1;
  made.ticket_.inode = status.st_ino;
  made.ticket_.device = status.st_dev;
  made.ticket_.bytes = mapped;
  random_bytes(made.ticket_.token, token_bytes);
  std::memcpy(made.data_ + made.size_, made.ticket_.token, token_bytes);
  return made;
}

SharedMemory SharedMemory::open(SharedTicket const& ticket) {
  bool const named = ticket.kind == static_cast<int>(SharedKind::shm_open);
  if (ticket.bytes < token_bytes ||
      (!named && ticket.kind != static_cast<int>(SharedKind::memfd))) {
    fail_peer(ticket, "the ticket is damaged");
  }
  Descriptor const file = named ? open_named(ticket) : open_memfd(ticket);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) base::fail_errno("fstat", errno);
  check_file(ticket, status);
  SharedMemory opened;
  opened.data_ = map(file.get(), ticket.bytes);
  opened.mapped_ = ticket.bytes;
  opened.size_ = ticket.bytes - token_bytes;
  opened.ticket_ = ticket;
  opened.ticket_.name[0] = '\0';  // only the creator removes the name
  if (std::memcmp(opened.data_ + opened.size_, ticket.token, token_bytes) != 0) {
    fail_peer(ticket, "its token differs");
  }
  return opened;
}

SharedMemory SharedMemory::anonymous(std::size_t bytes) {
  std::size_t const mapped = mapped_bytes(bytes);
  void* const at =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    base::fail(Errc::out_of_memory, "no memory for " + base::format_bytes(mapped));
  }
  SharedMemory made;
  made.data_ = static_cast<std::byte*>(at);
  made.mapped_ = mapped;
  made.size_ = mapped - token_bytes;
  made.ticket_.pid = getpid();
  made.ticket_.bytes = mapped;
  return made;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      ticket_(std::exchange(other.ticket_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this != &other) {
    SharedMemory taken(std::move(other));
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    std::swap(mapped_, taken.mapped_);
    std::swap(descriptor_, taken.descriptor_);
    std::swap(ticket_, taken.ticket_);
  }
  return *this;
}

SharedMemory::~SharedMemory() {
  forget_name();
  if (data_ != nullptr) munmap(data_, mapped_);
}

SharedTicket SharedMemory::ticket() const {
  return ticket_;
}

void SharedMemory::forget_name() noexcept {
  // A forked child holds a copy of this object; the name is the creator's alone.
  if (ticket_.name[0] != '\0' && ticket_.pid == getpid()) shm_unlink(ticket_.name);
  ticket_.name[0] = '\0';
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace berth::sys
