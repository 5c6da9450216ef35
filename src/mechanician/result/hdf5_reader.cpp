#include <fmt/format.h>

#include <cassert>
#include <cstring>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/hdf5_session_internal.hpp"
#include "mechanician/result/part_file.hpp"

namespace mechanician {

class Hdf5Reader::Impl {
 public:
  explicit Impl(const std::string& path) : session(path), file(open()) {}

  Handle open() const {
    const Handle access = session.file_access();
    check_seal(OpenFile(session.file(), OpenFile::Mode::read));
    return session.own(H5Fopen(session.file().c_str(), H5F_ACC_RDONLY, access), H5Fclose,
                       "this is no HDF5 file, or it is damaged");
  }
  Handle dataset(const std::string& name) const {
    return session.own(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, fmt::format("no dataset `{}`", name));
  }
  Handle attribute(const std::string& name) const {
    return session.own(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose, fmt::format("no attribute `{}`", name));
  }
  Layout layout(hid_t dataset, const std::string& name, Hdf5Type type) const {
    const Handle stored = session.own(H5Dget_type(dataset), H5Tclose, name);
    const Handle space = session.own(H5Dget_space(dataset), H5Sclose, name);
    const Handle made = session.own(H5Dget_create_plist(dataset), H5Pclose, name);
    hsize_t dims[2] = {0, 1}, chunk[2] = {0, 1};
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > 2) unexpected(name);
    session.check(H5Sget_simple_extent_dims(space, dims, nullptr), name);

    const std::size_t size = H5Tget_size(stored);
    const H5T_class_t kind = H5Tget_class(stored);
    const bool fits = type == Hdf5Type::text      ? kind == H5T_STRING && rank == 1 && H5Tis_variable_str(stored) == 0
                      : type == Hdf5Type::number  ? kind == H5T_FLOAT && size == 8
                      : type == Hdf5Type::integer ? kind == H5T_INTEGER && size == 8
                                                  : kind == H5T_INTEGER && size == 1;
    if (!fits) unexpected(name);
    Layout layout{dims[0], type == Hdf5Type::text ? size : dims[1], {}};
    if (H5Pget_layout(made) == H5D_CHUNKED) {
      if (H5Pget_chunk(made, rank, chunk) != rank) unexpected(name);
      layout.chunks = Hdf5Chunks{chunk[0], chunk[1]};
    }
    return layout;
  }
  /// The block as HDF5 sees it, for which a text is one number; it must be there.
  Hdf5Block inside(const Layout& layout, const std::string& name, Hdf5Type type, Hdf5Block block) const {
    if (type == Hdf5Type::text) block.column = 0, block.columns = 1;
    const std::uint64_t columns = type == Hdf5Type::text ? 1 : layout.columns;
    if (block.row > layout.rows || block.rows > layout.rows - block.row || block.column > columns ||
        block.columns > columns - block.column)
      throw FileError(fmt::format("{}: the file is damaged: `{}` is too short", session.file(), name));
    return block;
  }
  template <class T>
  T scalar(const std::string& name, hid_t type) const {
    const Handle stored = attribute(name);
    const Handle space = session.own(H5Aget_space(stored), H5Sclose, name);
    if (H5Sget_simple_extent_npoints(space) != 1) unexpected(name);
    T value{};
    session.check(H5Aread(stored, type, &value), name);
    return value;
  }
  /// The texts of an attribute, which are of any length.
  std::vector<std::string> texts(const Handle& stored, const std::string& name) const {
    const Handle type = session.own(H5Aget_type(stored), H5Tclose, name);
    const Handle space = session.own(H5Aget_space(stored), H5Sclose, name);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) <= 0 || count < 0) unexpected(name);
    std::vector<char*> read(count, nullptr);
    session.check(H5Aread(stored, session.text_type(), read.data()), name);
    std::vector<std::string> result;
    for (char* text : read) {
      result.emplace_back(text ? text : "");
      H5free_memory(text);
    }
    return result;
  }
  [[noreturn]] void unexpected(const std::string& name) const {
    throw FileError(fmt::format("{}: `{}` is not what a result of this program has there", session.file(), name));
  }

  Session session;
  Handle file;
};

Hdf5Reader::Hdf5Reader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
Hdf5Reader::~Hdf5Reader() = default;

const std::string& Hdf5Reader::path() const { return impl_->session.file(); }

bool Hdf5Reader::has(const std::string& dataset) const {
  return H5Lexists(impl_->file, dataset.c_str(), H5P_DEFAULT) > 0;
}

Hdf5Reader::Layout Hdf5Reader::layout(const std::string& name, Hdf5Type type) const {
  return impl_->layout(impl_->dataset(name), name, type);
}

void Hdf5Reader::read(const std::string& name, Hdf5Type type, const Hdf5Block& block, std::span<char> bytes) const {
  const Handle dataset = impl_->dataset(name);
  const Hdf5Block chosen = impl_->inside(impl_->layout(dataset, name, type), name, type, block);
  if (chosen.rows == 0 || chosen.columns == 0) return;
  const Handle stored = impl_->session.own(H5Dget_type(dataset), H5Tclose, name);
  assert(bytes.size() == chosen.rows * chosen.columns * H5Tget_size(stored));
  const hid_t native = type == Hdf5Type::number    ? H5T_NATIVE_DOUBLE
                       : type == Hdf5Type::integer ? H5T_NATIVE_INT64
                       : type == Hdf5Type::bytes   ? H5T_NATIVE_UINT8
                                                   : hid_t{stored};
  const auto [in_file, in_memory] = impl_->session.select(dataset, chosen, name);
  impl_->session.check(H5Dread(dataset, native, in_memory, in_file, H5P_DEFAULT, bytes.data()),
                       fmt::format("the file is damaged: `{}`", name));
}

std::string Hdf5Reader::bytes(const std::string& name, Hdf5Type type, const Hdf5Block& block) const {
  const Layout shape = layout(name, type);
  const Hdf5Block chosen = impl_->inside(shape, name, type, block);
  // A damaged file may claim any size.
  constexpr std::uint64_t most = std::uint64_t{1} << 35;
  const std::uint64_t columns = type == Hdf5Type::text ? shape.columns : chosen.columns;
  if (columns > most || chosen.rows > most || (columns > 0 && chosen.rows > most / columns / size_of(type)))
    impl_->unexpected(name);
  std::string result(static_cast<std::size_t>(chosen.rows * columns * size_of(type)), '\0');
  read(name, type, block, result);
  return result;
}

std::vector<double> Hdf5Reader::numbers(const std::string& name, const Hdf5Block& block) const {
  const std::string raw = bytes(name, Hdf5Type::number, block);
  std::vector<double> values(raw.size() / sizeof(double));
  if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

std::vector<double> Hdf5Reader::numbers(const std::string& name) const {
  const Layout shape = layout(name, Hdf5Type::number);
  return numbers(name, {0, shape.rows, 0, shape.columns});
}

std::vector<std::string> Hdf5Reader::column_names(const std::string& name) const {
  const Handle dataset = impl_->dataset(name);
  if (H5Aexists(dataset, "columns") <= 0) return {};
  return impl_->texts(impl_->session.own(H5Aopen(dataset, "columns", H5P_DEFAULT), H5Aclose, name), name);
}

bool Hdf5Reader::has_attribute(const std::string& name) const { return H5Aexists(impl_->file, name.c_str()) > 0; }

std::string Hdf5Reader::text_attribute(const std::string& name) const {
  std::vector<std::string> texts = impl_->texts(impl_->attribute(name), name);
  if (texts.size() != 1) impl_->unexpected(name);
  return std::move(texts[0]);
}

double Hdf5Reader::number_attribute(const std::string& name) const {
  return impl_->scalar<double>(name, H5T_NATIVE_DOUBLE);
}

std::int64_t Hdf5Reader::integer_attribute(const std::string& name) const {
  return impl_->scalar<std::int64_t>(name, H5T_NATIVE_INT64);
}

std::uint64_t Hdf5Reader::count(const std::string& name) const {
  if (const Layout shape = layout(name, Hdf5Type::integer); shape.rows != 1 || shape.columns != 1)
    damaged(fmt::format("{} is no number", name));
  std::int64_t value = 0;
  std::memcpy(&value, bytes(name, Hdf5Type::integer, {0, 1, 0, 1}).data(), sizeof value);
  if (value < 0) damaged(fmt::format("{} is negative", name));
  return static_cast<std::uint64_t>(value);
}

void Hdf5Reader::damaged(const std::string& why) const {
  throw FileError(fmt::format("{}: the file is damaged: {}", path(), why));
}

}  // namespace mechanician
