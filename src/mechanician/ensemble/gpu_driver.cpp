#include <dlfcn.h>
#include <fmt/format.h>

#include <bit>
#include <mutex>
#include <vector>

#include "mechanician/ensemble/gpu.hpp"

namespace mechanician {

namespace {

/// The entries of the driver that are used, as its interface declares them.
struct Driver {
  using Result = int;
  using Device = int;
  using Handle = void*;

  Result (*init)(unsigned);
  Result (*device_count)(int*);
  Result (*device_get)(Device*, int);
  Result (*device_name)(char*, int, Device);
  Result (*context_retain)(Handle*, Device);
  Result (*context_release)(Device);
  Result (*context_set)(Handle);
  Result (*synchronize)();
  Result (*module_load)(Handle*, const void*, unsigned, int*, void**);
  Result (*module_unload)(Handle);
  Result (*module_function)(Handle*, Handle, const char*);
  Result (*memory_info)(std::size_t*, std::size_t*);
  Result (*allocate)(std::uint64_t*, std::size_t);
  Result (*release)(std::uint64_t);
  Result (*copy_in)(std::uint64_t, const void*, std::size_t);
  Result (*copy_out)(void*, std::uint64_t, std::size_t);
  Result (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                   void**);
  Result (*event_create)(Handle*, unsigned);
  Result (*event_destroy)(Handle);
  Result (*event_record)(Handle, Handle);
  Result (*event_elapsed)(float*, Handle, Handle);
  Result (*error_string)(Result, const char**);
};

/// Stays open: a driver that has been used does not like to be closed.
const char* open_driver(Driver& driver) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return "NVIDIA's driver library libcuda.so.1 is not on this machine";
  bool complete = true;
  const auto find = [&](auto& entry, const char* name) {
    void* const found = dlsym(library, name);
    complete = complete && found;
    entry = std::bit_cast<std::decay_t<decltype(entry)>>(found);
  };
  find(driver.init, "cuInit");
  find(driver.device_count, "cuDeviceGetCount");
  find(driver.device_get, "cuDeviceGet");
  find(driver.device_name, "cuDeviceGetName");
  find(driver.context_retain, "cuDevicePrimaryCtxRetain");
  find(driver.context_release, "cuDevicePrimaryCtxRelease_v2");
  find(driver.context_set, "cuCtxSetCurrent");
  find(driver.synchronize, "cuCtxSynchronize");
  find(driver.module_load, "cuModuleLoadDataEx");
  find(driver.module_unload, "cuModuleUnload");
  find(driver.module_function, "cuModuleGetFunction");
  find(driver.memory_info, "cuMemGetInfo_v2");
  find(driver.allocate, "cuMemAlloc_v2");
  find(driver.release, "cuMemFree_v2");
  find(driver.copy_in, "cuMemcpyHtoD_v2");
  find(driver.copy_out, "cuMemcpyDtoH_v2");
  find(driver.launch, "cuLaunchKernel");
  find(driver.event_create, "cuEventCreate");
  find(driver.event_destroy, "cuEventDestroy_v2");
  find(driver.event_record, "cuEventRecord");
  find(driver.event_elapsed, "cuEventElapsedTime");
  find(driver.error_string, "cuGetErrorString");
  return complete ? nullptr : "NVIDIA's driver on this machine is too old: it lacks functions that are needed";
}

class CudaGpu : public Gpu {
 public:
  CudaGpu(const Driver& driver, Driver::Device device) : driver_(driver), device_(device) {
    char name[256] = {};
    check(driver_.device_name(name, sizeof name, device_), "asking for its name");
    name_ = name;
    check(driver_.context_retain(&context_, device_), "opening it");
    try {
      check(driver_.context_set(context_), "opening it");
      check(driver_.event_create(&begin_, 0), "opening it");
      check(driver_.event_create(&end_, 0), "opening it");
    } catch (...) {
      close();
      throw;
    }
  }
  CudaGpu(const CudaGpu&) = delete;
  CudaGpu& operator=(const CudaGpu&) = delete;
  ~CudaGpu() override { close(); }

  std::string name() const override { return name_; }
  std::size_t free_memory() const override {
    use();
    std::size_t free = 0, total = 0;
    check(driver_.memory_info(&free, &total), "asking for its memory");
    return free;
  }

  Kernel load(const std::string& ptx, const char* entry) override {
    use();
    // 5 and 6: the buffer for what the compiler says, and its size.
    std::vector<char> said(8192, '\0');
    int options[] = {5, 6};
    void* values[] = {said.data(), std::bit_cast<void*>(said.size() - 1)};
    Driver::Handle module = nullptr;
    const Driver::Result result = driver_.module_load(&module, ptx.c_str(), 2, options, values);
    if (result != 0)
      throw GpuError(message(result, "compiling for it") + (said[0] ? std::string("\n") + said.data() : std::string()));
    modules_.push_back(module);
    Driver::Handle function = nullptr;
    check(driver_.module_function(&function, module, entry), "compiling for it");
    return function;
  }
  Address allocate(std::size_t bytes) override {
    use();
    Address memory = 0;
    check(driver_.allocate(&memory, bytes == 0 ? 8 : bytes), "taking memory of it");
    return memory;
  }
  void release(Address memory) override {
    use();
    driver_.release(memory);
  }
  void copy_in(Address to, const void* from, std::size_t bytes) override {
    use();
    if (bytes > 0) check(driver_.copy_in(to, from, bytes), "copying to it");
  }
  void copy_out(void* to, Address from, std::size_t bytes) override {
    use();
    if (bytes > 0) check(driver_.copy_out(to, from, bytes), "copying from it");
  }
  double launch(Kernel kernel, unsigned blocks, unsigned threads, std::span<const std::uint64_t> arguments) override {
    use();
    std::vector<std::uint64_t> values(arguments.begin(), arguments.end());
    std::vector<void*> places;
    for (std::uint64_t& value : values) places.push_back(&value);  // a shorter parameter is the first bytes of it
    // One kernel after the other: threads share the two events, and the device runs them one by one anyway.
    const std::lock_guard lock(launching_);
    check(driver_.event_record(begin_, nullptr), "starting a kernel on it");
    check(driver_.launch(kernel, blocks, 1, 1, threads, 1, 1, 0, nullptr, places.data(), nullptr),
          "starting a kernel on it");
    check(driver_.event_record(end_, nullptr), "starting a kernel on it");
    check(driver_.synchronize(), "running a kernel on it");
    float ms = 0;
    check(driver_.event_elapsed(&ms, begin_, end_), "running a kernel on it");
    return 1e-3 * static_cast<double>(ms);
  }

 private:
  void use() const { driver_.context_set(context_); }
  std::string message(Driver::Result result, const char* doing) const {
    const char* words = nullptr;
    driver_.error_string(result, &words);
    return fmt::format("{}: error while {}: {} (CUDA error {})", name_.empty() ? "GPU" : name_, doing,
                       words ? words : "unknown", result);
  }
  void check(Driver::Result result, const char* doing) const {
    if (result != 0) throw GpuError(message(result, doing));
  }
  void close() {
    driver_.context_set(context_);
    for (const Driver::Handle module : modules_) driver_.module_unload(module);
    if (begin_) driver_.event_destroy(begin_);
    if (end_) driver_.event_destroy(end_);
    driver_.context_release(device_);
  }

  Driver driver_;
  Driver::Device device_;
  Driver::Handle context_ = nullptr, begin_ = nullptr, end_ = nullptr;
  std::vector<Driver::Handle> modules_;
  std::string name_;
  std::mutex launching_;
};

}  // namespace

FoundGpu find_gpu() {
  Driver driver{};
  if (const char* why = open_driver(driver)) return {nullptr, why};
  const char* words = nullptr;
  const auto say = [&](Driver::Result result, const char* what) {
    driver.error_string(result, &words);
    return FoundGpu{nullptr, fmt::format("{}: {} (CUDA error {})", what, words ? words : "unknown", result)};
  };
  if (const auto result = driver.init(0)) return say(result, "NVIDIA's driver does not start");
  int count = 0;
  if (const auto result = driver.device_count(&count)) return say(result, "NVIDIA's driver does not answer");
  if (count == 0) return {nullptr, "NVIDIA's driver finds no GPU on this machine"};
  Driver::Device device = 0;
  if (const auto result = driver.device_get(&device, 0)) return say(result, "NVIDIA's driver does not answer");
  try {
    return {std::make_shared<CudaGpu>(driver, device), {}};
  } catch (const GpuError& error) {
    return {nullptr, error.what()};
  }
}

}  // namespace mechanician
