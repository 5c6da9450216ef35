#include "mechanician/base/xml.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>

namespace mechanician {

namespace {

constexpr int deepest = 200;

XmlElement tree_of(const tinyxml2::XMLElement& from, int depth) {
  if (depth > deepest) throw XmlError(from.GetLineNum(), fmt::format("elements are nested more than {} deep", deepest));
  XmlElement element;
  element.name = from.Name();
  element.line = from.GetLineNum();
  for (const auto* a = from.FirstAttribute(); a; a = a->Next()) element.attributes.emplace_back(a->Name(), a->Value());
  for (const auto* child = from.FirstChildElement(); child; child = child->NextSiblingElement())
    element.children.push_back(tree_of(*child, depth + 1));
  return element;
}

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
  for (const XmlElement& e : children)
    if (e.name == wanted) return &e;
  return nullptr;
}

const std::string* XmlElement::attribute(std::string_view wanted) const {
  for (const auto& [attribute_name, value] : attributes)
    if (attribute_name == wanted) return &value;
  return nullptr;
}

XmlElement parse_xml(std::string_view text) {
  tinyxml2::XMLDocument document;
  if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    // Its words repeat the line and the number of the error.
    std::string why = document.ErrorStr() ? document.ErrorStr() : "";
    if (const std::size_t at = why.find(": "); at != std::string::npos) why = why.substr(at + 2);
    throw XmlError(document.ErrorLineNum(),
                   fmt::format("this is no XML ({}){}{}", tinyxml2::XMLDocument::ErrorIDToName(document.ErrorID()),
                               why.empty() ? "" : ": ", why));
  }
  for (const auto* node = document.FirstChild(); node; node = node->NextSibling())
    if (const auto* unknown = node->ToUnknown();
        unknown && std::string_view(unknown->Value()).find("ENTITY") != std::string_view::npos)
      throw XmlError(unknown->GetLineNum(), "it declares entities, which are not read");
  const tinyxml2::XMLElement* root = document.RootElement();
  if (!root) throw XmlError(1, "there is no element in it");
  if (const auto* second = root->NextSiblingElement())
    throw XmlError(second->GetLineNum(), "there is something behind the root element");
  return tree_of(*root, 0);
}

}  // namespace mechanician
