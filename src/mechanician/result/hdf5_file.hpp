#pragma once

/// The little of HDF5 that results need: making a file whose datasets all have their place, compressing one that is
/// finished, and reading one back.
///
/// A file in which metadata change while it is written can be unreadable when the process is killed in the middle. So
/// while a run goes on every dataset is contiguous, made with room for rows to come and with its space allocated, the
/// file is closed, and the rows are then written straight to their places in it: from then on only numbers change,
/// never structure. A finished file is made of it in one go, with chunks that are compressed.
/// Files are in the classic format, readable by every version of HDF5.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace mechanician {

class OpenFile;

enum class Hdf5Type { number, integer, text, bytes };

/// An attribute of the classic format has at most 64 KiB; a text takes 16 bytes of that.
inline constexpr std::size_t most_attribute_names = 4000;

/// Bytes of a number; of a text, of a character.
constexpr std::uint64_t size_of(Hdf5Type type) { return type == Hdf5Type::number || type == Hdf5Type::integer ? 8 : 1; }

/// The size of a chunk in rows and columns; of texts a column is a whole text.
struct Hdf5Chunks {
  std::uint64_t rows = 0, columns = 1;
};

struct Hdf5Dataset {
  std::string path;  ///< "q" or "events/time"; the group is made when needed
  Hdf5Type type = Hdf5Type::number;
  std::uint64_t rows = 0;
  std::uint64_t columns = 1;       ///< bytes of the text for Hdf5Type::text
  bool matrix = false;             ///< two dimensions, also with one column
  std::vector<std::string> names;  ///< attribute `columns`; none if there are none or too many
  std::string about;               ///< attribute `about`; none if empty
  /// In chunks, each compressed by itself (shuffle and deflate); none: contiguous.
  std::optional<Hdf5Chunks> chunks = {};

  std::uint64_t row_size() const { return columns * size_of(type); }
};

struct Hdf5Attribute {
  std::string name;
  std::variant<std::string, double, std::int64_t> value;
};

/// Where each dataset begins in the file, in the order given; 0 for one without rows or in chunks. Throws FileError.
std::vector<std::uint64_t> create_hdf5(const std::string& path, const std::vector<Hdf5Dataset>& datasets,
                                       const std::vector<Hdf5Attribute>& attributes);

/// A stretch of a file.
struct Extent {
  std::uint64_t offset = 0, size = 0;
};

/// Datasets below this size stay contiguous: the index of the chunks alone takes 3 KiB.
inline constexpr std::uint64_t smallest_compressed = 64 * 1024;

/// Chunks of some 256 KiB (1 MiB in datasets beyond 1 GiB), as near to a square as rows and columns allow: one column over
/// all rows and one row over all columns cost about the same.
std::optional<Hdf5Chunks> choose_chunks(const Hdf5Dataset& dataset);

/// A rectangle of a dataset.
struct Hdf5Block {
  std::uint64_t row = 0, rows = 0, column = 0, columns = 0;
};

/// Fills the bytes with the numbers of a block, row by row.
using BlockReader = std::function<void(const Hdf5Dataset&, const Hdf5Block&, std::span<char>)>;

/// Writes the datasets that are in chunks, with one chunk in memory at a time. Where the chunks lie in the file, in any
/// order. Throws FileError.
std::vector<Extent> write_chunks(const std::string& path, const std::vector<Hdf5Dataset>& datasets,
                                 const BlockReader& read);

/// Adds a hash of everything but the extents, which may still change, after the end of what HDF5 knows of the file. A
/// damaged file can make HDF5 itself fail in any way, so the hash is checked before HDF5 sees it.
void seal_hdf5(OpenFile& file, std::vector<Extent> changing);
/// Throws FileError where the file is not as it was sealed.
void check_seal(const OpenFile& file);

/// A file that was sealed, opened for reading. Everything throws FileError where the file does not hold what is asked
/// for.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::string& path);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  const std::string& path() const;
  struct Layout {
    std::uint64_t rows = 0, columns = 1;    ///< columns of a text: its bytes
    std::optional<Hdf5Chunks> chunks = {};  ///< none: contiguous
  };
  bool has(const std::string& dataset) const;
  Layout layout(const std::string& dataset, Hdf5Type type) const;
  /// The numbers of a block, row by row; of texts all bytes of the rows.
  void read(const std::string& dataset, Hdf5Type type, const Hdf5Block& block, std::span<char> bytes) const;
  std::string bytes(const std::string& dataset, Hdf5Type type, const Hdf5Block& block) const;
  std::vector<double> numbers(const std::string& dataset, const Hdf5Block& block) const;
  std::vector<double> numbers(const std::string& dataset) const;  ///< all
  /// A dataset that is one number and counts something.
  std::uint64_t count(const std::string& dataset) const;
  /// The attribute `columns` of a dataset; nothing where it has none.
  std::vector<std::string> column_names(const std::string& dataset) const;

  bool has_attribute(const std::string& name) const;
  std::string text_attribute(const std::string& name) const;
  double number_attribute(const std::string& name) const;
  std::int64_t integer_attribute(const std::string& name) const;

  /// Says why the file is not one that this program has left like that.
  [[noreturn]] void damaged(const std::string& why) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mechanician
