#include "mechanician/base/xml.hpp"

#include <fmt/format.h>

namespace mechanician {

namespace {

constexpr int deepest = 200;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  XmlElement root() {
    skip_misc();
    if (at_ >= text_.size() || text_[at_] != '<') fail("an element is expected");
    XmlElement element = read_element(0);
    skip_misc();
    if (at_ < text_.size()) fail("there is something behind the root element");
    return element;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw XmlError(line_, what); }

  void step(std::size_t count = 1) {
    for (; count > 0 && at_ < text_.size(); --count)
      if (text_[at_++] == '\n') ++line_;
  }
  bool begins(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  void skip_blanks() {
    while (at_ < text_.size() && blank(text_[at_])) step();
  }
  void skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) fail(fmt::format("`{}` is missing", end));
    step(found + end.size() - at_);
  }
  /// Comments, instructions and blanks; true where something was skipped.
  bool skip_one() {
    if (begins("<!--"))
      skip_past("-->");
    else if (begins("<?"))
      skip_past("?>");
    else if (begins("<![CDATA["))
      skip_past("]]>");
    else if (begins("<!"))
      fail("document types are not read");
    else
      return false;
    return true;
  }
  void skip_misc() {
    for (skip_blanks(); skip_one(); skip_blanks()) {
    }
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !blank(text_[at_]) &&
           std::string_view("<>/=\"'&").find(text_[at_]) == std::string_view::npos)
      step();
    if (at_ == begin) fail("a name is expected");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string value() {
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'') fail("the value of an attribute stands in quotation marks");
    step();
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '<') fail("`<` within a value");
      if (text_[at_] != '&') {
        out += text_[at_];
        step();
        continue;
      }
      bool known = false;
      for (const auto& [entity, sign] : {std::pair("&lt;", '<'), std::pair("&gt;", '>'), std::pair("&amp;", '&'),
                                         std::pair("&quot;", '"'), std::pair("&apos;", '\'')})
        if (!known && begins(entity)) out += sign, step(std::string_view(entity).size()), known = true;
      if (!known) fail("an entity that is not known");
    }
    if (at_ >= text_.size()) fail("a value does not end");
    step();
    return out;
  }

  XmlElement read_element(int depth) {
    if (depth > deepest) fail("elements lie too deep");
    XmlElement element;
    element.line = line_;
    step();
    element.name = name();
    for (;;) {
      skip_blanks();
      if (begins("/>")) return step(2), element;
      if (begins(">")) break;
      if (at_ >= text_.size()) fail(fmt::format("`{}` does not end", element.name));
      std::string key = name();
      skip_blanks();
      if (!begins("=")) fail(fmt::format("the attribute `{}` has no value", key));
      step();
      skip_blanks();
      element.attributes.emplace_back(std::move(key), value());
    }
    step();
    for (;;) {
      while (at_ < text_.size() && text_[at_] != '<') step();
      if (at_ >= text_.size()) fail(fmt::format("`{}` does not end", element.name));
      if (begins("</")) {
        step(2);
        if (const std::string end = name(); end != element.name)
          fail(fmt::format("`{}` ends as `{}`", element.name, end));
        skip_blanks();
        if (!begins(">")) fail("`>` is missing");
        return step(), element;
      }
      if (!skip_one()) element.children.push_back(read_element(depth + 1));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
  for (const XmlElement& e : children)
    if (e.name == wanted) return &e;
  return nullptr;
}

const std::string* XmlElement::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes)
    if (key == wanted) return &value;
  return nullptr;
}

XmlElement parse_xml(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return Reader(text).root();
}

}  // namespace mechanician
