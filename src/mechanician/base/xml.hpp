#pragma once

/// XML as a plain tree: elements, attributes, text. No external entities, no document types.

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mechanician {

struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;
  int line = 0;

  const XmlElement* child(std::string_view wanted) const;
  /// The value of an attribute, or null.
  const std::string* attribute(std::string_view wanted) const;
};

struct XmlError : std::runtime_error {
  XmlError(int at, const std::string& what) : std::runtime_error(what), line(at) {}
  int line;
};

/// The root element. Throws XmlError.
XmlElement parse_xml(std::string_view text);

}  // namespace mechanician
