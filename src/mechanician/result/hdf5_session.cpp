#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/hdf5_session_internal.hpp"

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

}  // namespace

Handle::Handle(hid_t id, Close close_id, const std::string& file, const std::string& what) : id_(id), close_(close_id) {
  if (id_ < 0) throw FileError(fmt::format("{}: {}: {}", file, what, innermost_error()));
}

Session::Session(std::string file) : file_(std::move(file)) { start_library(); }

void Session::check(herr_t status, const std::string& what) const {
  if (status < 0) throw FileError(fmt::format("{}: {}: {}", file_, what, innermost_error()));
}

Handle Session::text_type() const {
  Handle type = own(H5Tcopy(H5T_C_S1), H5Tclose, "a type");
  check(H5Tset_size(type, H5T_VARIABLE), "a type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "a type");
  return type;
}

Handle Session::file_access() const {
  Handle access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "a property");
#if H5_VERSION_GE(1, 10, 7)
  // FILE.part has a lock of its own; HDF5's would be in the way on file systems where all locks are one.
  check(H5Pset_file_locking(access, false, true), "a property");
#endif
  // A few columns of many rows are read from a file whose rows lie one after the other: 64 KiB for each row, as HDF5
  // would have it, is too much, and a page is what the system reads anyway.
  check(H5Pset_sieve_buf_size(access, 4096), "a property");
  return access;
}

Handle Session::stored_type(const Hdf5Dataset& d) const {
  switch (d.type) {
    case Hdf5Type::number:
      return own(H5Tcopy(H5T_IEEE_F64LE), H5Tclose, d.path);
    case Hdf5Type::integer:
      return own(H5Tcopy(H5T_STD_I64LE), H5Tclose, d.path);
    case Hdf5Type::bytes:
      return own(H5Tcopy(H5T_STD_U8LE), H5Tclose, d.path);
    case Hdf5Type::text:
      break;
  }
  Handle type = own(H5Tcopy(H5T_C_S1), H5Tclose, d.path);
  check(H5Tset_size(type, d.columns), d.path);
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), d.path);
  check(H5Tset_cset(type, H5T_CSET_UTF8), d.path);
  return type;
}

Session::Selection Session::select(hid_t dataset, const Hdf5Block& block, const std::string& name) const {
  Handle in_file = own(H5Dget_space(dataset), H5Sclose, name);
  const int rank = H5Sget_simple_extent_ndims(in_file);
  const hsize_t start[2] = {block.row, block.column}, count[2] = {block.rows, block.columns};
  check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, nullptr, count, nullptr), name);
  Handle in_memory = own(H5Screate_simple(rank, count, nullptr), H5Sclose, name);
  return {std::move(in_file), std::move(in_memory)};
}

void Session::write_text(hid_t object, const std::string& name, const std::string& value) const {
  const Handle type = text_type();
  const Handle space = own(H5Screate(H5S_SCALAR), H5Sclose, name);
  const Handle attribute = own(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
  const char* text = value.c_str();
  check(H5Awrite(attribute, type, &text), name);
}

void Session::write_names(hid_t object, const std::vector<std::string>& names) const {
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

}  // namespace mechanician
