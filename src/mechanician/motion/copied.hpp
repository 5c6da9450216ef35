#pragma once

/// A part that is copied with its owner: an interface behind a pointer, with clone().

#include <memory>
#include <utility>

namespace mechanician {

template <class T>
class Copied {
 public:
  Copied() = default;
  explicit Copied(std::unique_ptr<T> part) : part_(std::move(part)) {}
  Copied(const Copied& other) : part_(other.part_ ? other.part_->clone() : nullptr) {}
  Copied(Copied&&) noexcept = default;
  Copied& operator=(Copied other) noexcept {
    part_ = std::move(other.part_);
    return *this;
  }
  explicit operator bool() const { return static_cast<bool>(part_); }
  T* operator->() const { return part_.get(); }
  T& operator*() const { return *part_; }

 private:
  std::unique_ptr<T> part_;
};

}  // namespace mechanician
