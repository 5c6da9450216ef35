#include "mechanician/output/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mechanician/base/text.hpp"

namespace mechanician {

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (first_.empty()) return;
  if (!first_.back()) out_ += ',';
  // The outermost level reads better on lines of its own.
  if (first_.size() == 1)
    out_ += "\n  ";
  else if (!first_.back())
    out_ += ' ';
  first_.back() = false;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  first_.push_back(true);
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  if (first_.size() == 1 && !first_.back()) out_ += '\n';
  first_.pop_back();
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  out_ += text;
  return *this;
}

void JsonWriter::quote(std::string_view x) {
  out_ += '"';
  for (std::size_t i = 0; i < x.size();) {
    const CodePoint c = decode_utf8(x, i);
    const auto length = static_cast<std::size_t>(c.length);
    if (!c.valid)
      out_ += "\\ufffd";
    else if (c.value == '"' || c.value == '\\')
      out_ += '\\', out_ += static_cast<char>(c.value);
    else if (c.value == '\n')
      out_ += "\\n";
    else if (c.value == '\t')
      out_ += "\\t";
    else if (c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0))
      out_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c.value));
    else
      out_ += x.substr(i, length);
    i += length;
  }
  out_ += '"';
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(const JsonScalar& scalar) {
  if (const auto* text = std::get_if<std::string_view>(&scalar.get())) {
    separate();
    quote(*text);
    return *this;
  }
  if (const auto* x = std::get_if<bool>(&scalar.get())) return raw(*x ? "true" : "false");
  if (const auto* x = std::get_if<long>(&scalar.get())) return raw(std::to_string(*x));
  const auto* x = std::get_if<double>(&scalar.get());
  return x && std::isfinite(*x) ? raw(fmt::format("{:.17g}", *x == 0.0 ? 0.0 : *x)) : null();
}

JsonWriter& JsonWriter::named(std::span<const std::string> names, const Eigen::VectorXd& x) {
  begin_object();
  for (Eigen::Index i = 0; i < x.size(); ++i) key(names[i]).value(x(i));
  return end_object();
}

JsonWriter& JsonWriter::fields(std::initializer_list<std::pair<std::string_view, JsonScalar>> all) {
  for (const auto& [name, x] : all) key(name).value(x);
  return *this;
}

}  // namespace mechanician
