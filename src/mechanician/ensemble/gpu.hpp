#pragma once

/// A GPU, as far as ensembles need it: memory, kernels from PTX text, launches.
///
///     const FoundGpu found = find_gpu();
///     if (!found.gpu) … found.why_not …                      // no driver, no device, in words
///
/// NVIDIA's driver (libcuda) is opened when it is asked for; no toolkit and nothing at build time is needed. The driver
/// compiles the text for the GPU that it finds, and keeps what it made in a cache of its own.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace mechanician {

/// The driver refused, or the device ran out of memory.
struct GpuError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// For one thread at a time.
class Gpu {
 public:
  using Address = std::uint64_t;
  using Kernel = void*;

  virtual ~Gpu() = default;
  virtual std::string name() const = 0;
  virtual std::size_t free_memory() const = 0;  ///< bytes

  /// Compiled by the driver; lives as long as this.
  virtual Kernel load(const std::string& ptx, const char* entry) = 0;
  virtual Address allocate(std::size_t bytes) = 0;
  virtual void release(Address memory) = 0;
  virtual void copy_in(Address to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, Address from, std::size_t bytes) = 0;
  /// `arguments`: the bits of each kernel parameter. Returns when it is done: seconds on the device.
  virtual double launch(Kernel kernel, unsigned blocks, unsigned threads, std::span<const std::uint64_t> arguments) = 0;
};

struct FoundGpu {
  std::shared_ptr<Gpu> gpu;
  std::string why_not;
};
FoundGpu find_gpu();

/// Memory on a device, released with this.
class GpuMemory {
 public:
  GpuMemory(Gpu& gpu, std::size_t bytes) : gpu_(&gpu), address_(gpu.allocate(bytes)) {}
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory() { gpu_->release(address_); }
  Gpu::Address address() const { return address_; }

 private:
  Gpu* gpu_;
  Gpu::Address address_;
};

}  // namespace mechanician
