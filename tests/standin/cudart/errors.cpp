// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <cuda_runtime_api.h>

namespace {

struct Text {
  cudaError_t code;
  char const* name;
  char const* text;
};

// The texts are those of CUDA, since programs print and compare them.
#define BERTH_ERROR(code, text) \
  Text {                        \
    code, #code, text           \
  }
constexpr Text texts[] = {
    BERTH_ERROR(cudaSuccess, "no error"),
    BERTH_ERROR(cudaErrorInvalidValue, "invalid argument"),
    BERTH_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    BERTH_ERROR(cudaErrorInitializationError, "initialization error"),
    BERTH_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    BERTH_ERROR(cudaErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
    BERTH_ERROR(cudaErrorProfilerNotInitialized,
                "profiler not initialized: call cudaProfilerInitialize()"),
    BERTH_ERROR(cudaErrorProfilerAlreadyStarted, "profiler already started"),
    BERTH_ERROR(cudaErrorProfilerAlreadyStopped, "profiler already stopped"),
    BERTH_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    BERTH_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    BERTH_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    BERTH_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    BERTH_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    BERTH_ERROR(cudaErrorInvalidTexture, "invalid texture reference"),
    BERTH_ERROR(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"),
    BERTH_ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    BERTH_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    BERTH_ERROR(cudaErrorAddressOfConstant, "invalid address of constant"),
    BERTH_ERROR(cudaErrorTextureFetchFailed, "fetch from texture failed"),
    BERTH_ERROR(cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound"),
    BERTH_ERROR(cudaErrorSynchronizationError, "incorrect use of __syncthreads()"),
    BERTH_ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    BERTH_ERROR(cudaErrorInvalidNormSetting,
                "read as normalized float not supported for data type"),
    BERTH_ERROR(cudaErrorMixedDeviceExecution,
                "device emulation mode and device execution mode cannot be mixed"),
    BERTH_ERROR(cudaErrorNotYetImplemented, "feature not yet implemented"),
    BERTH_ERROR(cudaErrorMemoryValueTooLarge,
                "memory size or pointer value too large to fit in 32 bit"),
    BERTH_ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    BERTH_ERROR(cudaErrorInsufficientDriver,
                "CUDA driver version is insufficient for CUDA runtime version"),
    BERTH_ERROR(cudaErrorCallRequiresNewerDriver,
                "API call is not supported in the installed CUDA driver"),
    BERTH_ERROR(cudaErrorInvalidSurface, "invalid surface reference"),
    BERTH_ERROR(cudaErrorDuplicateVariableName,
                "duplicate global variable looked up by string name"),
    BERTH_ERROR(cudaErrorDuplicateTextureName, "duplicate texture looked up by string name"),
    BERTH_ERROR(cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name"),
    BERTH_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    BERTH_ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context"),
    BERTH_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    BERTH_ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    BERTH_ERROR(cudaErrorLaunchMaxDepthExceeded,
                "launch would exceed maximum depth of nested launches"),
    BERTH_ERROR(cudaErrorLaunchFileScopedTex,
                "launch failed because kernel uses unsupported, file-scoped textures (texture "
                "objects are supported)"),
    BERTH_ERROR(cudaErrorLaunchFileScopedSurf,
                "launch failed because kernel uses unsupported, file-scoped surfaces (surface "
                "objects are supported)"),
    BERTH_ERROR(cudaErrorSyncDepthExceeded,
                "cudaDeviceSynchronize failed because caller's grid depth exceeds "
                "cudaLimitDevRuntimeSyncDepth"),
    BERTH_ERROR(cudaErrorLaunchPendingCountExceeded,
                "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    BERTH_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    BERTH_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    BERTH_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    BERTH_ERROR(cudaErrorDeviceNotLicensed, "device doesn't have valid Grid license"),
    BERTH_ERROR(cudaErrorSoftwareValidityNotEstablished, "integrity checks failed"),
    BERTH_ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime"),
    BERTH_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    BERTH_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    BERTH_ERROR(cudaErrorMapBufferObjectFailed, "mapping of buffer object failed"),
    BERTH_ERROR(cudaErrorUnmapBufferObjectFailed, "unmapping of buffer object failed"),
    BERTH_ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    BERTH_ERROR(cudaErrorAlreadyMapped, "resource already mapped"),
    BERTH_ERROR(cudaErrorNoKernelImageForDevice,
                "no kernel image is available for execution on the device"),
    BERTH_ERROR(cudaErrorAlreadyAcquired, "resource already acquired"),
    BERTH_ERROR(cudaErrorNotMapped, "resource not mapped"),
    BERTH_ERROR(cudaErrorNotMappedAsArray, "resource not mapped as array"),
    BERTH_ERROR(cudaErrorNotMappedAsPointer, "resource not mapped as pointer"),
    BERTH_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    BERTH_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    BERTH_ERROR(cudaErrorDeviceAlreadyInUse,
                "exclusive-thread device already in use by a different thread"),
    BERTH_ERROR(cudaErrorPeerAccessUnsupported,
                "peer access is not supported between these two devices"),
    BERTH_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    BERTH_ERROR(cudaErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    BERTH_ERROR(cudaErrorNvlinkUncorrectable,
                "uncorrectable NVLink error detected during the execution"),
    BERTH_ERROR(cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"),
    BERTH_ERROR(cudaErrorUnsupportedPtxVersion,
                "the provided PTX was compiled with an unsupported toolchain."),
    BERTH_ERROR(cudaErrorJitCompilationDisabled, "PTX JIT compilation was disabled"),
    BERTH_ERROR(cudaErrorUnsupportedExecAffinity,
                "the provided execution affinity is not supported"),
    BERTH_ERROR(cudaErrorUnsupportedDevSideSync,
                "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    BERTH_ERROR(cudaErrorContained,
                "Invalid access of peer GPU memory over nvlink or a hardware error"),
    BERTH_ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    BERTH_ERROR(cudaErrorFileNotFound, "file not found"),
    BERTH_ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    BERTH_ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    BERTH_ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    BERTH_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    BERTH_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    BERTH_ERROR(cudaErrorLossyQuery, "attempted introspection would be semantically lossy"),
    BERTH_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    BERTH_ERROR(cudaErrorNotReady, "device not ready"),
    BERTH_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    BERTH_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    BERTH_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    BERTH_ERROR(cudaErrorLaunchIncompatibleTexturing, "launch uses incompatible texturing mode"),
    BERTH_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    BERTH_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    BERTH_ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    BERTH_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    BERTH_ERROR(cudaErrorAssert, "device-side assert triggered"),
    BERTH_ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    BERTH_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                "part or all of the requested memory range is already mapped"),
    BERTH_ERROR(cudaErrorHostMemoryNotRegistered,
                "pointer does not correspond to a registered memory region"),
    BERTH_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    BERTH_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    BERTH_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    BERTH_ERROR(cudaErrorInvalidAddressSpace,
                "operation not supported on global/shared address space"),
    BERTH_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    BERTH_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    BERTH_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    BERTH_ERROR(cudaErrorTensorMemoryLeak, "tensor memory not completely freed"),
    BERTH_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    BERTH_ERROR(cudaErrorNotSupported, "operation not supported"),
    BERTH_ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    BERTH_ERROR(cudaErrorSystemDriverMismatch,
                "system has unsupported display driver / cuda driver combination"),
    BERTH_ERROR(cudaErrorCompatNotSupportedOnDevice,
                "forward compatibility was attempted on non supported HW"),
    BERTH_ERROR(cudaErrorMpsConnectionFailed,
                "MPS client failed to connect to the MPS control daemon or the MPS server"),
    BERTH_ERROR(cudaErrorMpsRpcFailure,
                "the remote procedural call between the MPS server and the MPS client failed"),
    BERTH_ERROR(cudaErrorMpsServerNotReady,
                "MPS server is not ready to accept new MPS client requests"),
    BERTH_ERROR(cudaErrorMpsMaxClientsReached,
                "the hardware resources required to create MPS client have been exhausted"),
    BERTH_ERROR(
        cudaErrorMpsMaxConnectionsReached,
        "the hardware resources required to support device connections have been exhausted"),
    BERTH_ERROR(cudaErrorMpsClientTerminated, "the MPS client has been terminated by the server"),
    BERTH_ERROR(cudaErrorCdpNotSupported,
                "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does "
                "not support it"),
    BERTH_ERROR(cudaErrorCdpVersionMismatch,
                "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    BERTH_ERROR(cudaErrorStreamCaptureUnsupported,
                "operation not permitted when stream is capturing"),
    BERTH_ERROR(cudaErrorStreamCaptureInvalidated,
                "operation failed due to a previous error during capture"),
    BERTH_ERROR(cudaErrorStreamCaptureMerge,
                "operation would result in a merge of separate capture sequences"),
    BERTH_ERROR(cudaErrorStreamCaptureUnmatched,
                "capture was not ended in the same stream as it began"),
    BERTH_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    BERTH_ERROR(cudaErrorStreamCaptureIsolation,
                "dependency created on uncaptured work in another stream"),
    BERTH_ERROR(cudaErrorStreamCaptureImplicit,
                "operation would make the legacy stream depend on a capturing blocking stream"),
    BERTH_ERROR(cudaErrorCapturedEvent,
                "operation not permitted on an event last recorded in a capturing stream"),
    BERTH_ERROR(cudaErrorStreamCaptureWrongThread,
                "attempt to terminate a thread-local capture sequence from another thread"),
    BERTH_ERROR(cudaErrorTimeout, "wait operation timed out"),
    BERTH_ERROR(cudaErrorGraphExecUpdateFailure,
                "the graph update was not performed because it included changes which violated "
                "constraints specific to instantiated graph update"),
    BERTH_ERROR(cudaErrorExternalDevice,
                "an async error has occured in external entity outside of CUDA"),
    BERTH_ERROR(cudaErrorInvalidClusterSize,
                "a kernel launch error has occurred due to cluster misconfiguration"),
    BERTH_ERROR(
        cudaErrorFunctionNotLoaded,
        "the function handle is not loaded when calling an API that requires a loaded function"),
    BERTH_ERROR(cudaErrorInvalidResourceType,
                "one or more resources passed in are not valid resource types for the operation"),
    BERTH_ERROR(cudaErrorInvalidResourceConfiguration,
                "one or more resources are insufficient or non-applicable for the operation"),
    BERTH_ERROR(cudaErrorUnknown, "unknown error"),
    BERTH_ERROR(cudaErrorApiFailureBase, "api failure base"),
};
#undef BERTH_ERROR

Text const* find(cudaError_t code) {
  auto const* const found = std::find_if(std::begin(texts), std::end(texts),
                                         [&](Text const& one) { return one.code == code; });
  return found == std::end(texts) ? nullptr : found;
}

}  // namespace

char const* cudaGetErrorName(cudaError_t error) {
  Text const* const found = find(error);
  return found == nullptr ? "unrecognized error code" : found->name;
}

char const* cudaGetErrorString(cudaError_t error) {
  Text const* const found = find(error);
  return found == nullptr ? "unrecognized error code" : found->text;
}
