// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Exported functions that ask for operations.
#include <cstring>

#include "group.hpp"
#include "handle.hpp"

namespace {

using standin::Kind;

struct Call {
  Kind kind;
  void const* from;
  void* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int root;
};

/// Which buffers this rank's part of the operation touches.
bool reads(Call const& call, int rank) {
  bool const from_root = call.kind == Kind::broadcast || call.kind == Kind::scatter;
  return call.kind != Kind::receive && (!from_root || rank == call.root);
}

bool writes(Call const& call, int rank) {
  bool const to_root = call.kind == Kind::reduce || call.kind == Kind::gather;
  return call.kind != Kind::send && (!to_root || rank == call.root);
}

ncclResult_t begin(Call const& call, ncclComm_t comm, cudaStream_t stream) {
  auto const communicator = standin::ready_communicator(comm);
  if (!communicator->usable()) {
    standin::fail(ncclInvalidUsage, "comm was finalized, revoked or shrunk with an abort");
  }
  if (standin::size_of(call.type) == 0) {
    standin::fail(ncclInvalidArgument, standin::text("invalid type %d", call.type));
  }
  if (call.root < 0 || call.root >= communicator->ranks()) {
    standin::fail(ncclInvalidArgument,
                  standin::text("invalid root or peer %d (root should be in the 0..%d range)",
                                call.root, communicator->ranks()));
  }
  standin::Reduction reduction;
  if (!communicator->find_reduction(call.op, reduction)) {
    standin::fail(ncclInvalidArgument, standin::text("invalid reduction operation %d", call.op));
  }
  int const rank = communicator->rank();
  if (call.count > 0 &&
      ((reads(call, rank) && call.from == nullptr) || (writes(call, rank) && call.to == nullptr))) {
    standin::fail(ncclInvalidArgument, "sendbuff or recvbuff is not a valid pointer");
  }
  ++communicator->status()->counts[static_cast<unsigned>(call.kind)];
  return standin::enqueue(communicator, {call.kind, static_cast<std::byte const*>(call.from),
                                         static_cast<std::byte*>(call.to), call.count, call.type,
                                         reduction, call.root, stream});
}

/// In a group a bad call makes the end of the group fail too.
ncclResult_t ask(Call const& call, ncclComm_t comm, cudaStream_t stream) {
  ncclResult_t const result = standin::guarded([&] { return begin(call, comm, stream); });
  bool const good = result == ncclSuccess || result == ncclInProgress;
  return good ? result : standin::spoil_group(result);
}

}  // namespace

ncclResult_t ncclAllReduce(void const* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return ask({Kind::all_reduce, from, to, count, type, op, 0}, comm, stream);
}
STANDIN_TWIN(ncclAllReduce);

ncclResult_t ncclReduce(void const* from, void* to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return ask({Kind::reduce, from, to, count, type, op, root}, comm, stream);
}
STANDIN_TWIN(ncclReduce);

ncclResult_t ncclBroadcast(void const* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return ask({Kind::broadcast, from, to, count, type, ncclSum, root}, comm, stream);
}
STANDIN_TWIN(ncclBroadcast);

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return ask({Kind::broadcast, buffer, buffer, count, type, ncclSum, root}, comm, stream);
}
STANDIN_TWIN(ncclBcast);

ncclResult_t ncclAllGather(void const* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return ask({Kind::all_gather, from, to, count, type, ncclSum, 0}, comm, stream);
}
STANDIN_TWIN(ncclAllGather);

ncclResult_t ncclReduceScatter(void const* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return ask({Kind::reduce_scatter, from, to, count, type, op, 0}, comm, stream);
}
STANDIN_TWIN(ncclReduceScatter);

ncclResult_t ncclAlltoAll(void const* from, void* to, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream) {
  return ask({Kind::all_to_all, from, to, count, type, ncclSum, 0}, comm, stream);
}
STANDIN_TWIN(ncclAlltoAll);

ncclResult_t ncclGather(void const* from, void* to, size_t count, ncclDataType_t type, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return ask({Kind::gather, from, to, count, type, ncclSum, root}, comm, stream);
}
STANDIN_TWIN(ncclGather);

ncclResult_t ncclScatter(void const* from, void* to, size_t count, ncclDataType_t type, int root,
                         ncclComm_t comm, cudaStream_t stream) {
  return ask({Kind::scatter, from, to, count, type, ncclSum, root}, comm, stream);
}
STANDIN_TWIN(ncclScatter);

ncclResult_t ncclSend(void const* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return ask({Kind::send, from, nullptr, count, type, ncclSum, peer}, comm, stream);
}
STANDIN_TWIN(ncclSend);

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return ask({Kind::receive, nullptr, to, count, type, ncclSum, peer}, comm, stream);
}
STANDIN_TWIN(ncclRecv);

ncclResult_t ncclGroupStart() {
  standin::group_start();
  return ncclSuccess;
}
STANDIN_TWIN(ncclGroupStart);

ncclResult_t ncclGroupEnd() {
  return standin::guarded([] { return standin::group_end(); });
}
STANDIN_TWIN(ncclGroupEnd);

ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* info) {
  if (info == nullptr) return ncclInvalidArgument;
  info->estimatedTime = 0;
  return standin::guarded([] { return standin::group_drop(); });
}
STANDIN_TWIN(ncclGroupSimulateEnd);

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  return standin::guarded([&] {
    auto const communicator = standin::ready_communicator(comm);
    std::size_t const size = standin::size_of(type);
    if (op == nullptr || scalar == nullptr || size == 0) {
      standin::fail(ncclInvalidArgument, "op or scalar is NULL, or the type is none");
    }
    standin::Reduction reduction;
    reduction.scaled = true;
    if (residence == ncclScalarDevice) {
      reduction.device = scalar;
    } else {
      std::memcpy(reduction.factor, scalar, size);
    }
    *op = communicator->add_reduction(reduction);
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclRedOpCreatePreMulSum);

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return standin::guarded([&] {
    if (!standin::communicator_of(comm)->remove_reduction(op)) {
      standin::fail(ncclInvalidArgument,
                    "ncclRedOpDestroy : operator unknown to this communicator");
    }
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclRedOpDestroy);
