#include "mechanician/result/hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/hash_internal.hpp"
#include "mechanician/result/part_file.hpp"

namespace mechanician {

namespace {

/// The innermost reason on HDF5's stack of errors: the one that says something to a person.
std::string innermost_error() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* e, void* out) -> herr_t {
        if (e->desc) *static_cast<std::string*>(out) = e->desc;
        return 0;
      },
      &text);
  // What the system said stands in the middle of a page of details.
  constexpr std::string_view before = "error message = '";
  if (const auto at = text.find(before); at != std::string::npos) {
    text.erase(0, at + before.size());
    text.resize(std::min(text.find('\''), text.size()));
  }
  return text.empty() ? "HDF5 gives no reason" : text;
}

/// Our own messages instead of HDF5's, and no work after main(): a file that could not be closed would be tried again.
void start_library() {
  static const bool once = [] {
    H5dont_atexit();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return true;
  }();
  static_cast<void>(once);
}

/// An identifier of HDF5 that is closed when it goes out of scope, and what fails is thrown.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close_id, const std::string& file, const std::string& what) : id_(id), close_(close_id) {
    if (id_ < 0) throw FileError(fmt::format("{}: {}: {}", file, what, innermost_error()));
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: stands for the identifier everywhere
  herr_t close() { return close_(std::exchange(id_, -1)); }

 private:
  hid_t id_;
  Close close_;
};

/// Calls on one file, with its name in every message.
class Session {
 public:
  explicit Session(std::string file) : file_(std::move(file)) { start_library(); }

  const std::string& file() const { return file_; }
  Handle own(hid_t id, Handle::Close close, const std::string& what) const { return {id, close, file_, what}; }
  void check(herr_t status, const std::string& what) const {
    if (status < 0) throw FileError(fmt::format("{}: {}: {}", file_, what, innermost_error()));
  }

  /// UTF-8 of any length; Python and Julia read it as their own strings.
  Handle text_type() const {
    Handle type = own(H5Tcopy(H5T_C_S1), H5Tclose, "a type");
    check(H5Tset_size(type, H5T_VARIABLE), "a type");
    check(H5Tset_cset(type, H5T_CSET_UTF8), "a type");
    return type;
  }

  Handle file_access() const {
    Handle access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "a property");
#if H5_VERSION_GE(1, 10, 7)
    // FILE.part has a lock of its own; HDF5's would be in the way on file systems where all locks are one.
    check(H5Pset_file_locking(access, false, true), "a property");
#endif
    return access;
  }

  void write_text(hid_t object, const std::string& name, const std::string& value) const {
    const Handle type = text_type();
    const Handle space = own(H5Screate(H5S_SCALAR), H5Sclose, name);
    const Handle attribute =
        own(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
    const char* text = value.c_str();
    check(H5Awrite(attribute, type, &text), name);
  }

  template <class T>
  void write_scalar(hid_t object, const std::string& name, hid_t stored, hid_t native, T value) const {
    const Handle space = own(H5Screate(H5S_SCALAR), H5Sclose, name);
    const Handle attribute =
        own(H5Acreate2(object, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
    check(H5Awrite(attribute, native, &value), name);
  }

  void write_names(hid_t object, const std::vector<std::string>& names) const {
    if (names.empty() || names.size() > most_attribute_names) return;
    const Handle type = text_type();
    const hsize_t count = names.size();
    const Handle space = own(H5Screate_simple(1, &count, nullptr), H5Sclose, "columns");
    const Handle attribute =
        own(H5Acreate2(object, "columns", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "columns");
    std::vector<const char*> texts;
    for (const std::string& name : names) texts.push_back(name.c_str());
    check(H5Awrite(attribute, type, texts.data()), "columns");
  }

 private:
  std::string file_;
};

Handle stored_type(const Session& session, const Hdf5Dataset& d) {
  switch (d.type) {
    case Hdf5Type::number:
      return session.own(H5Tcopy(H5T_IEEE_F64LE), H5Tclose, d.path);
    case Hdf5Type::integer:
      return session.own(H5Tcopy(H5T_STD_I64LE), H5Tclose, d.path);
    case Hdf5Type::bytes:
      return session.own(H5Tcopy(H5T_STD_U8LE), H5Tclose, d.path);
    case Hdf5Type::text:
      break;
  }
  Handle type = session.own(H5Tcopy(H5T_C_S1), H5Tclose, d.path);
  session.check(H5Tset_size(type, d.columns), d.path);
  session.check(H5Tset_strpad(type, H5T_STR_NULLPAD), d.path);
  session.check(H5Tset_cset(type, H5T_CSET_UTF8), d.path);
  return type;
}

std::uint64_t create_dataset(const Session& session, hid_t file, const Hdf5Dataset& d) {
  const Handle links = session.own(H5Pcreate(H5P_LINK_CREATE), H5Pclose, d.path);
  session.check(H5Pset_create_intermediate_group(links, 1), d.path);
  const Handle made = session.own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, d.path);
  session.check(H5Pset_layout(made, H5D_CONTIGUOUS), d.path);
  session.check(H5Pset_alloc_time(made, H5D_ALLOC_TIME_EARLY), d.path);
  session.check(H5Pset_fill_time(made, H5D_FILL_TIME_NEVER), d.path);
  session.check(H5Pset_obj_track_times(made, false), d.path);  // the same run gives the same file

  const Handle type = stored_type(session, d);
  const hsize_t dims[2] = {d.rows, d.columns};
  const Handle space = session.own(H5Screate_simple(d.matrix ? 2 : 1, dims, nullptr), H5Sclose, d.path);
  const Handle dataset =
      session.own(H5Dcreate2(file, d.path.c_str(), type, space, links, made, H5P_DEFAULT), H5Dclose, d.path);
  session.write_names(dataset, d.names);
  if (!d.about.empty()) session.write_text(dataset, "about", d.about);
  if (d.rows == 0 || d.columns == 0) return 0;
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) throw FileError(fmt::format("{}: no room for {}", session.file(), d.path));
  return offset;
}

}  // namespace

std::vector<std::uint64_t> create_hdf5(const std::string& path, const std::vector<Hdf5Dataset>& datasets,
                                       const std::vector<Hdf5Attribute>& attributes) {
  const Session session(path);
  const Handle access = session.file_access();
  const Handle made = session.own(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "cannot write");
  session.check(H5Pset_obj_track_times(made, false), "cannot write");
  Handle file = session.own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, made, access), H5Fclose, "cannot write");
  for (const auto& [name, value] : attributes) {
    if (const auto* text = std::get_if<std::string>(&value))
      session.write_text(file, name, *text);
    else if (const auto* number = std::get_if<double>(&value))
      session.write_scalar(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, *number);
    else
      session.write_scalar(file, name, H5T_STD_I64LE, H5T_NATIVE_INT64, std::get<std::int64_t>(value));
  }
  std::vector<std::uint64_t> offsets;
  offsets.reserve(datasets.size());
  for (const Hdf5Dataset& d : datasets) offsets.push_back(create_dataset(session, file, d));
  session.check(file.close(), "cannot write");
  return offsets;
}

namespace {

constexpr std::string_view seal_magic = "mechseal";

/// Hash of the bytes before `end` that are in none of the extents, which are in order.
std::uint64_t hash_outside(const OpenFile& file, const std::vector<Extent>& extents, std::uint64_t end) {
  Hash hash;
  std::vector<char> bytes;
  const auto add = [&](std::uint64_t from, std::uint64_t to) {
    while (from < to) {
      bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(to - from, 1u << 20)));
      file.read_at(from, bytes);
      hash.add({bytes.data(), bytes.size()});
      from += bytes.size();
    }
  };
  std::uint64_t at = 0;
  for (const Extent& e : extents) {
    add(at, e.offset);
    at = e.offset + e.size;
  }
  add(at, end);
  return hash.value();
}

/// The file ends with its extents, their number, the hash and a word to know it by.
struct SealEnd {
  std::uint64_t count, hash;
  char magic[8];
};

void check_seal(const OpenFile& file) {
  const auto damaged = [&](const char* why) {
    return FileError(fmt::format("{}: the file is damaged: {}", file.path(), why));
  };
  const std::uint64_t size = file.size();
  SealEnd end{};
  if (size < sizeof end) throw damaged("it is too short");
  file.read_at(size - sizeof end, {reinterpret_cast<char*>(&end), sizeof end});
  if (std::string_view(end.magic, sizeof end.magic) != seal_magic)
    throw damaged("it does not end as a result of this program does");
  if (end.count > (size - sizeof end) / sizeof(Extent)) throw damaged("its end makes no sense");
  std::vector<Extent> extents(end.count);
  const std::uint64_t body = size - sizeof end - end.count * sizeof(Extent);
  file.read_at(body, {reinterpret_cast<char*>(extents.data()), extents.size() * sizeof(Extent)});
  std::uint64_t at = 0;
  for (const Extent& e : extents) {
    if (e.offset < at || e.offset > body || e.size > body - e.offset) throw damaged("its end makes no sense");
    at = e.offset + e.size;
  }
  if (hash_outside(file, extents, body) != end.hash) throw damaged("it is not as it was written");
}

}  // namespace

void seal_hdf5(OpenFile& file, std::vector<Extent> changing) {
  std::erase_if(changing, [](const Extent& e) { return e.size == 0; });
  std::sort(changing.begin(), changing.end(), [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  const std::uint64_t size = file.size();
  SealEnd end{changing.size(), hash_outside(file, changing, size), {}};
  seal_magic.copy(end.magic, sizeof end.magic);
  std::string bytes(reinterpret_cast<const char*>(changing.data()), changing.size() * sizeof(Extent));
  bytes.append(reinterpret_cast<const char*>(&end), sizeof end);
  file.write_at(size, bytes);
}

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
  [[noreturn]] void unexpected(const std::string& name) const {
    throw FileError(fmt::format("{}: `{}` is not what a result of this program has there", session.file(), name));
  }

  Session session;
  Handle file;
};

Hdf5Reader::Hdf5Reader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
Hdf5Reader::~Hdf5Reader() = default;

bool Hdf5Reader::has(const std::string& dataset) const {
  return H5Lexists(impl_->file, dataset.c_str(), H5P_DEFAULT) > 0;
}

Hdf5Reader::Layout Hdf5Reader::layout(const std::string& name, Hdf5Type type) const {
  const Handle dataset = impl_->dataset(name);
  const Handle stored = impl_->session.own(H5Dget_type(dataset), H5Tclose, name);
  const Handle space = impl_->session.own(H5Dget_space(dataset), H5Sclose, name);
  hsize_t dims[2] = {0, 1};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 1 || rank > 2) impl_->unexpected(name);
  impl_->session.check(H5Sget_simple_extent_dims(space, dims, nullptr), name);

  Layout layout{dims[0], dims[1], 0};
  const std::size_t size = H5Tget_size(stored);
  const H5T_class_t kind = H5Tget_class(stored);
  const bool fits = type == Hdf5Type::text      ? kind == H5T_STRING && rank == 1 && H5Tis_variable_str(stored) == 0
                    : type == Hdf5Type::number  ? kind == H5T_FLOAT && size == 8
                    : type == Hdf5Type::integer ? kind == H5T_INTEGER && size == 8
                                                : kind == H5T_INTEGER && size == 1;
  if (!fits) impl_->unexpected(name);
  if (type == Hdf5Type::text) layout.columns = size;
  if (layout.rows > 0 && layout.columns > 0) {
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) impl_->unexpected(name);
    layout.offset = offset;
  }
  return layout;
}

std::vector<double> Hdf5Reader::numbers(const std::string& name) const {
  const Layout shape = layout(name, Hdf5Type::number);
  // A damaged file may claim any size.
  if (shape.rows * shape.columns > (std::uint64_t{1} << 32)) impl_->unexpected(name);
  std::vector<double> values(shape.rows * shape.columns);
  const Handle dataset = impl_->dataset(name);
  if (!values.empty())
    impl_->session.check(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
  return values;
}

std::vector<std::string> Hdf5Reader::column_names(const std::string& name) const {
  const Handle dataset = impl_->dataset(name);
  if (H5Aexists(dataset, "columns") <= 0) return {};
  const Handle attribute = impl_->session.own(H5Aopen(dataset, "columns", H5P_DEFAULT), H5Aclose, name);
  const Handle stored = impl_->session.own(H5Aget_type(attribute), H5Tclose, name);
  const Handle space = impl_->session.own(H5Aget_space(attribute), H5Sclose, name);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(stored) != H5T_STRING || H5Tis_variable_str(stored) <= 0 || count < 0) impl_->unexpected(name);
  std::vector<char*> texts(static_cast<std::size_t>(count), nullptr);
  const Handle type = impl_->session.text_type();
  impl_->session.check(H5Aread(attribute, type, texts.data()), name);
  std::vector<std::string> result;
  for (char* text : texts) {
    result.emplace_back(text ? text : "");
    H5free_memory(text);
  }
  return result;
}

bool Hdf5Reader::has_attribute(const std::string& name) const { return H5Aexists(impl_->file, name.c_str()) > 0; }

std::string Hdf5Reader::text_attribute(const std::string& name) const {
  const Handle attribute = impl_->attribute(name);
  const Handle stored = impl_->session.own(H5Aget_type(attribute), H5Tclose, name);
  const Handle space = impl_->session.own(H5Aget_space(attribute), H5Sclose, name);
  if (H5Tget_class(stored) != H5T_STRING || H5Tis_variable_str(stored) <= 0 || H5Sget_simple_extent_npoints(space) != 1)
    impl_->unexpected(name);
  char* text = nullptr;
  const Handle type = impl_->session.text_type();
  impl_->session.check(H5Aread(attribute, type, &text), name);
  if (!text) return {};
  std::string result = text;
  H5free_memory(text);
  return result;
}

double Hdf5Reader::number_attribute(const std::string& name) const {
  const Handle attribute = impl_->attribute(name);
  const Handle space = impl_->session.own(H5Aget_space(attribute), H5Sclose, name);
  if (H5Sget_simple_extent_npoints(space) != 1) impl_->unexpected(name);
  double value = 0.0;
  impl_->session.check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), name);
  return value;
}

std::int64_t Hdf5Reader::integer_attribute(const std::string& name) const {
  const Handle attribute = impl_->attribute(name);
  const Handle space = impl_->session.own(H5Aget_space(attribute), H5Sclose, name);
  if (H5Sget_simple_extent_npoints(space) != 1) impl_->unexpected(name);
  std::int64_t value = 0;
  impl_->session.check(H5Aread(attribute, H5T_NATIVE_INT64, &value), name);
  return value;
}

}  // namespace mechanician
