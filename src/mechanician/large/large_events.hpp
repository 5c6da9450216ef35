#pragma once

/// Events of a large motion: where expressions of the state pass zero within a step.
///
///     LargeEvents events(model);
///     events.begin(motion);                          // at the start
///     for (const Found& e : events.find(motion)) …   // after each step, in order of time

#include <string>
#include <utility>
#include <vector>

#include "mechanician/large/large_motion.hpp"
#include "mechanician/large/large_quantities.hpp"
#include "mechanician/motion/roots.hpp"

namespace mechanician {

class LargeEvents {
 public:
  /// Throws ModelError where there are too many members to be looked at.
  explicit LargeEvents(const FamilyModel& model);

  bool empty() const { return when_.size() == 0; }
  void begin(LargeMotion& motion);

  struct Found {
    double time;
    std::string name;
    bool stop;
  };
  std::vector<Found> find(LargeMotion& motion);

  /// Which side of zero each is on: what finding on depends on.
  std::vector<double>& sides() { return sides_; }
  const std::vector<double>& sides() const { return sides_; }
  /// 1 for each of which it was noted that it has no value somewhere; with the sides.
  std::vector<double>& noted() { return noted_; }
  const std::vector<double>& noted() const { return noted_; }
  /// What there is to say since the last time.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  void evaluate(LargeMotion& motion, double t, std::span<double> values);

  const FamilyModel* model_;
  LargeQuantities when_;
  RootFinder finder_;
  std::vector<std::string> names_;
  std::vector<std::string> notes_;
  std::vector<double> sides_, noted_, q_, qd_;
};

}  // namespace mechanician
