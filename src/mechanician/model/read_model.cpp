#include "mechanician/model/read_model.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mechanician/base/read_file.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/model_reader.hpp"
#include "mechanician/model/plain_model.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/model/toml_source.hpp"
#include "mechanician/model/urdf.hpp"
#include "mechanician/model/validate.hpp"

namespace mechanician {

namespace {

[[noreturn]] void refuse(std::string message, std::string hint, const std::string& file) {
  throw ModelError({{{}, std::move(message), std::move(hint)}}, {file, {}});
}

[[noreturn]] void refuse_size(const std::string& file) {
  refuse(fmt::format("the file is larger than {} MiB", largest_file >> 20), "a model file is text written by a person",
         file);
}

/// Kept: it is looked at more than once, and can be read only once.
const FileText& read_standard_input() {
  static const FileText read = [] {
    FileText input;
    char piece[4096];
    for (;;) {
      const ssize_t got = ::read(STDIN_FILENO, piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) input.problem = std::strerror(errno);
      if (got <= 0 || input.text.size() > largest_file) return input;
      input.text.append(piece, static_cast<std::size_t>(got));
    }
  }();
  return read;
}

/// As it is named in messages.
std::string name_of(const std::filesystem::path& path) { return path == "-" ? "standard input" : path.string(); }

std::string read_model_file(const std::filesystem::path& path) {
  const std::string shown = printable(name_of(path), 400);
  FileText file = path == "-" ? read_standard_input() : read_file(path.string(), largest_file);
  if (!file.problem.empty()) throw FileError(fmt::format("cannot read {}: {}", shown, file.problem));
  if (file.text.size() > largest_file) refuse_size(shown);
  if (is_robot(path.string())) return import_robot(file.text, shown).text;
  return std::move(file.text);
}

/// Bytes that no text has. They are replaced by blanks, so that the rest of the file can be looked at; false if there
/// is no point in that.
bool clean_text(std::string& text, const SourceText& source, std::vector<Problem>& problems) {
  constexpr std::size_t most = 5;
  const SourceMap map(source.text);
  const auto report = [&](std::size_t at, std::string message, std::string hint = {}) {
    problems.push_back({map.place_of(at, at + 1), std::move(message), std::move(hint)});
  };
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    report(0, "the file is not UTF-8", "it looks like UTF-16: save it as UTF-8");
    return false;
  }
  if (const auto nul = text.find('\0'); nul != std::string::npos) {
    report(nul, "this is no text file: it contains a zero byte");
    return false;
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size() && count < most;) {
    const CodePoint c = decode_utf8(text, i);
    const auto length = static_cast<std::size_t>(c.length);
    const bool line_end = c.value == '\n' || (c.value == '\r' && text.compare(i, 2, "\r\n") == 0);
    if (!c.valid) {
      report(i, fmt::format("the byte 0x{:02X} is not UTF-8", static_cast<unsigned>(c.value)),
             "save the file as UTF-8");
      text[i] = ' ';
      ++count;
    } else if (c.value == '\r' && !line_end) {
      report(i, "a line ends here without a line feed", "save the file with the line ends of Unix or Windows");
      text[i] = ' ';
      ++count;
    } else if ((c.value < 0x20 && !line_end && c.value != '\t') || c.value == 0x7F) {
      report(i, fmt::format("control character U+{:04X}", static_cast<unsigned>(c.value)), "delete it");
      text[i] = ' ';
      ++count;
    }
    i += length;
  }
  return count < most;
}

constexpr long most_members = 100'000'000;  ///< of all coordinates, where they are not written out

/// Hands a text to the reader of models.
template <class Take>
auto with_reader(std::string_view text, std::string file_name, const ParameterOverrides& overrides, long most,
                 Take take) {
  file_name = printable(file_name, 400);
  if (text.size() > largest_file) refuse_size(file_name);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // the byte order mark that some editors write
  SourceText source{std::move(file_name), std::string(text)};
  std::string cleaned = source.text;
  std::vector<Problem> problems;
  if (!clean_text(cleaned, source, problems)) throw ModelError(std::move(problems), source);
  ModelReader reader(std::move(source), std::move(cleaned), std::move(problems), overrides, most);
  return take(reader);
}

FamilyModel read_stated(std::string_view text, std::string file_name, const ParameterOverrides& overrides, long most) {
  return with_reader(text, std::move(file_name), overrides, most, [](ModelReader& reader) { return reader.read(); });
}

}  // namespace

Model read_model_text(std::string_view text, std::string file_name, const ParameterOverrides& overrides) {
  return expand(read_stated(text, std::move(file_name), overrides, most_coordinates));
}

Model read_model(const std::filesystem::path& file, const ParameterOverrides& overrides) {
  return read_model_text(read_model_file(file), name_of(file), overrides);
}

std::string plain_model_text(const std::filesystem::path& file, const ParameterOverrides& overrides) {
  return plain_model_of(read_model_file(file), name_of(file), overrides);
}

std::string plain_model_of(std::string_view text, std::string file_name, const ParameterOverrides& overrides) {
  return with_reader(text, std::move(file_name), overrides, most_members,
                     [](ModelReader& reader) { return print_toml(reader.plain()); });
}

std::vector<Problem> notes_of_model(const SourceText& source, const ParameterOverrides& overrides) {
  return with_reader(source.text, source.file, overrides, most_members,
                     [](ModelReader& reader) { return reader.notes(); });
}

TomlValue part_tree(std::string_view text, const std::string& file, const ParameterOverrides& overrides,
                    JoinedParts& joined, int depth) {
  return with_reader(text, file, overrides, most_members,
                     [&](ModelReader& reader) { return reader.with_parts(joined, depth); });
}

namespace {

/// Of a model and of its parts, which are read too.
void add_data_files(const std::filesystem::path& file, std::vector<std::string>& found) {
  std::string text = read_model_file(file);
  std::vector<Problem> problems;
  if (!clean_text(text, {file.string(), text}, problems)) return;
  const TomlDocument document = parse_toml(SourceMap(text));
  const auto beside = [&](const std::string& name) { return (file.parent_path() / name).string(); };
  const TomlMember *start = document.root.find("start"), *from = start ? start->value.find("from") : nullptr;
  if (from && from->value.type == TomlValue::Type::string) found.push_back(beside(from->value.text));
  for (const auto& [section, key] :
       {std::pair("parameters", "csv"), std::pair("tables", "file"), std::pair("parts", "model")}) {
    const TomlMember* members = document.root.find(section);
    if (!members) continue;
    for (const TomlMember& m : members->value.members) {
      const TomlMember* const named = m.value.find(key);
      if (!named || named->value.type != TomlValue::Type::string) continue;
      const std::string other = beside(named->value.text);
      const bool is_new = std::find(found.begin(), found.end(), other) == found.end();
      found.push_back(other);
      if (is_new && std::string_view(section) == "parts") add_data_files(other, found);
    }
  }
}

}  // namespace

std::vector<std::string> data_files(const std::filesystem::path& file) {
  std::vector<std::string> found;
  try {
    add_data_files(file, found);
  } catch (const std::runtime_error&) {
    // What is wrong with it is said when it is read in earnest.
  }
  return found;
}

FamilyModel read_family_model_text(std::string_view text, std::string file_name, const ParameterOverrides& overrides) {
  return read_stated(text, std::move(file_name), overrides, most_members);
}

FamilyModel read_family_model(const std::string& file, const ParameterOverrides& overrides) {
  return read_family_model_text(read_model_file(file), name_of(file), overrides);
}

long count_family_coordinates(const std::string& file, const ParameterOverrides& overrides) {
  std::string text = read_model_file(file);
  // What is wrong with it is said when it is read in earnest.
  std::vector<Problem> problems;
  if (!clean_text(text, {file, text}, problems) || !problems.empty()) return 0;
  return ModelReader({file, text}, text, {}, overrides, most_members).count();
}

}  // namespace mechanician
