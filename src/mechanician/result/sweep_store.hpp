#pragma once

/// Finished blocks of a sweep: in part files beside the result, or in memory where there is no file.
///
/// Each process appends to a file of its own, FILE.part (rank 0) or FILE.part-RANK: a setup, then blocks as they come, each with a
/// hash. What was written before a process was killed is whole, and a last block that is cut off is noticed and done again.

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mechanician/ensemble/sweep_block.hpp"
#include "mechanician/result/part_file.hpp"
#include "mechanician/result/sweep_setup.hpp"

namespace mechanician {

/// The numbers of a motion by quantity: eight bytes for each column.
struct SweepQuantity {
  std::string name;
  std::size_t columns = 1;
  bool whole = false;  ///< std::int64_t instead of double
  std::vector<std::string> names = {};
  std::string about = {};
};
/// samples, t, q, qd, outputs, outcome, steps, served, violation, balance; those without columns left out.
std::vector<SweepQuantity> quantities_of(const SweepSetup& setup);

struct SweepReason {
  std::int64_t motion = 0;
  std::string text;
};

class SweepStore {
 public:
  /// In memory.
  explicit SweepStore(const SweepSetup& setup);
  enum class Begin { anew, again };
  /// Rank 0 is to be first: it says that the others may follow. `again`: what is there is kept; rank 0 also looks at the files of
  /// all others. Throws FileError.
  SweepStore(const SweepSetup& setup, const std::string& file, int rank, Begin begin);
  ~SweepStore();
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;

  void append(const SweepBlock& block);
  /// To the disk, now and then and at the end.
  void sync();
  std::vector<MotionRange> done() const;

  struct Record {
    int file = 0;  ///< −1: memory
    std::uint64_t at = 0;
    std::int64_t first = 0, count = 0;
    std::uint64_t text_size = 0;
  };
  /// Rank 0, when all others have ended: what they have written since.
  void gather();
  /// In the order of the motions.
  void sort();
  const std::vector<Record>& records() const { return records_; }
  /// Records that this process has written, or that nobody else of `num_ranks` processes has.
  bool is_mine(const Record& record, int num_ranks) const;
  /// All numbers of a quantity in a record.
  void read(const Record& record, std::size_t quantity, std::vector<char>& bytes) const;
  std::vector<SweepReason> reasons(const Record& record) const;

  /// The scratch file becomes the result; part files go.
  void finish();
  /// Rank 0, and where there is a file.
  PartFile& part() { return *part_; }

 private:
  struct Source {
    int rank = 0;
    OpenFile file;
    std::uint64_t end = 0;  ///< of what is whole
  };
  void scan(Source& source, int index);
  void read_bytes(const Record& record, std::uint64_t at, std::span<char> bytes) const;

  std::vector<SweepQuantity> quantities_;
  std::string setup_;
  std::string file_;
  std::unique_ptr<PartFile> part_;
  std::vector<Source> sources_;  ///< the first is this process's own, without a file for rank 0: that is part_
  std::vector<std::string> memory_;
  std::vector<Record> records_;
};

/// The setup in FILE.part; throws FileError where there is none.
SweepSetup read_sweep_setup(const std::string& file);
/// FILE.part-1, FILE.part-2, … that are there and of sweeps, with their ranks.
std::vector<std::pair<int, std::string>> other_parts(const std::string& file);

}  // namespace mechanician
