// A large system at one state: numbers of members in, side by side through the program of their term, and out again.

#include <algorithm>

#include "mechanician/large/large_blocks_internal.hpp"
#include "mechanician/large/large_kernel_internal.hpp"

namespace mechanician {

namespace {

/// Entries of A from which they are not worth a place in the caches.
constexpr std::size_t least_streamed = std::size_t{1} << 22;
constexpr std::int64_t members_at_a_time = 64 * 128;  ///< of a thread: a multiple of a batch

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

/// Where block k of a batch of `here` members begins: the last one overlaps the one before rather than being half empty.
std::int64_t LargeSystem::block_begin(std::int64_t k, std::int64_t here) {
  return std::max<std::int64_t>(0, std::min(k * lanes, here - lanes));
}

/// Inputs of a batch of members from `begin` on; the last one again where there are fewer than lanes. Many at a time:
/// what was written a moment ago cannot be read back in other pieces at once. Returns how many members there are.
std::int64_t LargeSystem::gather(const Kernel& kernel, std::span<const Source> sources, double* inputs,
                                 std::int64_t begin, const At& point) const {
  using From = Source::From;
  const std::int64_t here = std::min(lanes * batch, kernel.members.count - begin), blocks = (here + lanes - 1) / lanes,
                     stride = lanes * static_cast<std::int64_t>(kernel.needed.size());
  const bool more = begin + 2 * lanes * batch <= kernel.members.count;
  const BlockCopies& copies = block_copies();
  for (const Source& source : sources) {
    double* to = inputs + source.place;
    if (source.from == From::time) {
      for (std::int64_t k = 0; k < blocks; ++k, to += stride) std::fill_n(to, lanes, point.t);
      continue;
    }
    if (source.from == From::common) {
      for (std::int64_t k = 0; k < blocks; ++k, to += stride) std::fill_n(to, lanes, *source.numbers);
      continue;
    }
    const double* from = source.from == From::position   ? point.q.data()
                         : source.from == From::velocity ? point.qd.data()
                                                         : source.numbers;
    if (source.first < 0) {
      const std::int32_t* const list = source.list + begin;
      for (std::int64_t k = 0; k < blocks; ++k, to += stride) {
        const std::int64_t first = block_begin(k, here);
        for (std::int64_t lane = 0; lane < lanes; ++lane) to[lane] = from[list[std::min(first + lane, here - 1)]];
      }
      continue;
    }
    from += source.first + begin;  // the list itself is not read: it would be all misses
    if (more)
      for (std::int64_t k = 0; k < lanes * batch; k += 8) __builtin_prefetch(from + lanes * batch + k);
    if (here >= lanes)
      copies.spread(from, here, to, stride);
    else
      for (std::int64_t lane = 0; lane < lanes; ++lane) to[lane] = from[std::min(lane, here - 1)];
  }
  return here;
}

void LargeSystem::evaluate(const At& point, Values& values) {
  const Lock lock(mutex_);
  take(point);
  // What does not change is there from make_values() on.
  if (is_sum_[0]) std::copy(constant_.M.begin(), constant_.M.end(), values.M.begin());
  if (is_sum_[1]) std::copy(constant_.Q.begin(), constant_.Q.end(), values.Q.begin());
  if (is_sum_[2]) std::copy(constant_.A.begin(), constant_.A.end(), values.A.begin());
  if (is_sum_[3]) std::copy(constant_.b.begin(), constant_.b.end(), values.b.begin());
  for (const auto& kernel : kernels_) {
    if (kernel->varying.empty()) continue;
    const auto piece = [&](std::int64_t from, std::int64_t to, int slot) {
      evaluate_members(*kernel, kernel->desks[at(slot)], from, to, point, values);
    };
    if (kernel->shared)
      threads_->ranges(kernel->members.count, members_at_a_time, piece);
    else
      piece(0, kernel->members.count, 0);
  }
}

void LargeSystem::evaluate_members(const Kernel& kernel, Desk& desk, std::int64_t from, std::int64_t to,
                                   const At& point, Values& values) const {
  const bool past_caches = values.A.size() >= least_streamed;
  const BlockCopies& copies = block_copies();
  const std::int64_t stride = lanes * static_cast<std::int64_t>(kernel.varying.size());
  for (std::int64_t begin = from; begin < to; begin += lanes * batch) {
    const std::int64_t here = gather(kernel, kernel.sources, desk.inputs.data(), begin, point),
                       blocks = (here + lanes - 1) / lanes;
    kernel.run(desk.function, desk, blocks);
    const double* out = desk.outputs.data();
    for (std::size_t i = 0; i < kernel.varying.size(); ++i, out += lanes) {
      const Kernel::Output& o = kernel.varying[i];
      double* const part = o.part == Kernel::Part::mass    ? values.M.data()
                           : o.part == Kernel::Part::force ? values.Q.data()
                           : o.part == Kernel::Part::row   ? values.A.data()
                                                           : values.b.data();
      if (o.first >= 0 && o.alone && (here >= lanes || past_caches)) {
        LineWriter<lanes* batch>* const lines = past_caches ? &desk.lines[i] : nullptr;
        if (lines && begin == from) lines->begin(part + o.first + begin);
        double* const place = lines ? lines->room() : part + o.first + begin;
        if (here >= lanes)
          copies.collect(out, stride, here, place);
        else
          std::copy_n(out, here, place);
        if (lines) lines->write(here);
        if (lines && begin + here == to) lines->finish();
        continue;
      }
      std::int64_t j = 0;  // members done
      for (std::int64_t k = 0; k < blocks; ++k) {
        const double* const block = out + k * stride - block_begin(k, here);
        const std::int64_t end = std::min(here, (k + 1) * lanes);
        if (o.first >= 0)
          for (double* const place = part + o.first + begin; j < end; ++j)
            place[j] = o.alone ? block[j] : place[j] + block[j];
        for (; j < end; ++j)
          if (const std::int32_t place = o.to[at(begin + j)]; place >= 0)
            part[place] = o.alone ? block[j] : part[place] + block[j];
      }
    }
  }
}

void LargeSystem::evaluate_rows(const At& point, std::span<double> residual, std::span<double> rate) {
  const Lock lock(mutex_);
  take(point);
  for (const auto& kernel : kernels_) {
    if (!kernel->rows) continue;
    for (std::int64_t begin = 0; begin < kernel->members.count; begin += lanes * batch) {
      Desk& desk = kernel->desks.front();
      const std::int64_t here = gather(*kernel, kernel->sources, desk.inputs.data(), begin, point);
      kernel->run(kernel->rows, desk, (here + lanes - 1) / lanes);
      for (std::int64_t j = 0; j < here; ++j) {
        const double* const out = desk.outputs.data() + 2 * lanes * (j / lanes) + j - block_begin(j / lanes, here);
        const std::size_t row = at(kernel->row[at(begin + j)]);
        residual[row] = out[0], rate[row] = out[lanes];
      }
    }
  }
}

double LargeSystem::calc_mass_power(const At& point) {
  const Lock lock(mutex_);
  take(point);
  double sum = 0.0;
  for (const auto& kernel : kernels_) {
    if (!kernel->mass_power) continue;
    for (std::int64_t begin = 0; begin < kernel->members.count; begin += lanes * batch) {
      Desk& desk = kernel->desks.front();
      const std::int64_t here = gather(*kernel, kernel->sources, desk.inputs.data(), begin, point);
      kernel->run(kernel->mass_power, desk, (here + lanes - 1) / lanes);
      for (std::int64_t j = 0; j < here; ++j)
        sum += desk.outputs[at(j / lanes * lanes + j - block_begin(j / lanes, here))];
    }
  }
  return sum;
}

}  // namespace mechanician
