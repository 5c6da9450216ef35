#pragma once

/// The little of HDF5 that results need: making a file whose datasets all have their place, and reading one back.
///
/// A file in which metadata change while it is written can be unreadable when the process is killed in the middle. So
/// every dataset is made with room for rows to come, contiguous and with its space allocated, the file is closed, and
/// the rows are then written straight to their places in it: from then on only numbers change, never structure.
/// Files are in the classic format, readable by every version of HDF5.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mechanician {

class OpenFile;

enum class Hdf5Type { number, integer, text, bytes };

/// An attribute of the classic format has at most 64 KiB; a text takes 16 bytes of that.
inline constexpr std::size_t most_attribute_names = 4000;

struct Hdf5Dataset {
  std::string path;  ///< "q" or "events/time"; the group is made when needed
  Hdf5Type type = Hdf5Type::number;
  std::uint64_t rows = 0;
  std::uint64_t columns = 1;       ///< bytes of the text for Hdf5Type::text
  bool matrix = false;             ///< two dimensions, also with one column
  std::vector<std::string> names;  ///< attribute `columns`; none if there are none or too many
  std::string about;               ///< attribute `about`; none if empty

  std::uint64_t row_size() const { return columns * (type == Hdf5Type::number || type == Hdf5Type::integer ? 8u : 1u); }
};

struct Hdf5Attribute {
  std::string name;
  std::variant<std::string, double, std::int64_t> value;
};

/// Where each dataset begins in the file, in the order given; 0 for one without rows. Throws FileError.
std::vector<std::uint64_t> create_hdf5(const std::string& path, const std::vector<Hdf5Dataset>& datasets,
                                       const std::vector<Hdf5Attribute>& attributes);

/// A stretch of a file.
struct Extent {
  std::uint64_t offset = 0, size = 0;
};

/// Adds a hash of everything but the extents, which may still change, after the end of what HDF5 knows of the file. A
/// damaged file can make HDF5 itself fail in any way, so the hash is checked before HDF5 sees it.
void seal_hdf5(OpenFile& file, std::vector<Extent> changing);

/// A file that was sealed, opened for reading. Everything throws FileError where the file does not hold what is asked
/// for.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::string& path);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  struct Layout {
    std::uint64_t rows = 0, columns = 1;
    std::uint64_t offset = 0;  ///< in the file
  };
  bool has(const std::string& dataset) const;
  Layout layout(const std::string& dataset, Hdf5Type type) const;
  std::vector<double> numbers(const std::string& dataset) const;
  /// The attribute `columns` of a dataset; nothing where it has none.
  std::vector<std::string> column_names(const std::string& dataset) const;

  bool has_attribute(const std::string& name) const;
  std::string text_attribute(const std::string& name) const;
  double number_attribute(const std::string& name) const;
  std::int64_t integer_attribute(const std::string& name) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mechanician
