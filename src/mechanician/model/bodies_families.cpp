// `for` in the layer of bodies, written out. See parts.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/parse.hpp"
#include "mechanician/model/parts.hpp"

namespace mechanician {

namespace {

constexpr long most_members = 100'000;
constexpr const char* of_definition = ".value";
constexpr const char* sections[] = {"bodies",  "points", "directions", "joints",
                                    "springs", "forces", "contacts",   "parts"};

using Indices = std::map<std::string, long>;

/// found(offset, name) for all names, also behind members with an index that is no number yet: a[i].x − b[i].x. Parts of names
/// behind such an index, the x here, are none.
template <class Found>
void each_name(const std::string& text, Found found) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const auto is_digit = [&](std::size_t k) { return k < text.size() && text[k] >= '0' && text[k] <= '9'; };
    if (is_digit(i)) {  // 2, 1.5e-3; of 1..N the dots are no part of it
      while (is_digit(i) || (i < text.size() && text[i] == '.' && !(i + 1 < text.size() && text[i + 1] == '.'))) ++i;
      const bool sign = i + 1 < text.size() && (text[i + 1] == '-' || text[i + 1] == '+');
      if (i < text.size() && (text[i] == 'e' || text[i] == 'E') && is_digit(i + (sign ? 2 : 1))) i += sign ? 2 : 1;
      while (is_digit(i)) ++i;
      continue;
    }
    while (i < text.size()) {
      const CodePoint c = decode_utf8(text, i);
      const bool dot =
          i > begin && c.value == '.' && i + 1 < text.size() && is_name_start(decode_utf8(text, i + 1).value);
      if (!c.valid || !(i == begin ? is_name_start(c.value) : is_name_part(c.value) || dot)) break;
      i += static_cast<std::size_t>(c.length);
    }
    if (i == begin)
      ++i;
    else if (begin < 2 || text[begin - 1] != '.' || text[begin - 2] == '.')
      found(begin, text.substr(begin, i - begin));
  }
}

class Families {
 public:
  Families(TomlValue& root, FieldReader& fields, const EvaluateField& evaluate)
      : root_(root), fields_(fields), evaluate_(evaluate) {}

  bool write_out() {
    for (const char* name : sections) {
      const TomlMember* section = root_.find(name);
      if (!section) continue;
      for (const TomlMember& m : section->value.members) {
        if (m.value.find("for") || (section->name == "contacts" && m.value.find("box")))  // a box has eight corners
          families_.insert(m.name.substr(0, m.name.find('[')));
        else if (m.name.ends_with(']'))  // of a part, written out there
          families_.insert(m.name.substr(0, m.name.rfind('[')));
      }
    }
    if (families_.empty()) return true;
    note_definitions();
    for (TomlMember& section : root_.members) {
      const bool own = std::find_if(std::begin(sections), std::end(sections),
                                    [&](const char* s) { return section.name == s; }) != std::end(sections);
      if (section.value.type != TomlValue::Type::table) continue;
      if (own || section.name == "constraints" || section.name == "outputs" || section.name == "events" ||
          section.name == "control" || section.name == "summary" || section.name == "define" ||
          section.name == "vectors" || section.name == "states" || section.name == "nonideal")
        section.value.members = members(section.value.members, own);
      else if (section.name == "dynamics" || section.name == "start")
        by_coordinate(section.value);
      else if (section.name == "view")
        view(section.value);
      else
        plain(section.value, {});
    }
    return good_;
  }

 private:
  /// Definitions for members of our families are families as these are, of names of their own: w[2].value in the place of w[2].
  void note_definitions() {
    for (bool again = true; again;) {
      again = false;
      for (const char* name : {"define", "vectors"})
        if (const TomlMember* section = root_.find(name))
          for (const TomlMember& m : section->value.members) {
            const std::string family(family_of(m.name));
            if (family == m.name || !m.value.find("for") || families_.contains(family) || !mentions(m.value)) continue;
            families_.insert(family), defined_.insert(family);
            again = true;
          }
    }
  }

  /// Forces, masses and starts stand one level deeper.
  void by_coordinate(TomlValue& table) {
    for (TomlMember& kind : table.members) {
      if (kind.value.type == TomlValue::Type::table) kind.value.members = members(kind.value.members, false);
      plain_names(kind.value);
      if (kind.value.type != TomlValue::Type::table) plain(kind.value, {});
    }
  }

  /// What is drawn stands one level deeper, by kinds. Families of points that are written out are families for what hangs on them.
  void view(TomlValue& table) {
    const std::set<std::string> before = families_;
    if (const TomlMember* points = table.find("points"))
      for (const TomlMember& m : points->value.members)
        if (m.value.find("for") && mentions(m.value)) families_.insert(m.name);
    for (TomlMember& kind : table.members) {
      spread(kind.value);
      if (kind.value.type == TomlValue::Type::table && kind.name != "camera")
        kind.value.members = members(kind.value.members, false);
      else
        plain(kind.value, {});
    }
    families_ = before;
  }

  /// "tip[1..3]" in a list: one after the other.
  void spread(TomlValue& value) {
    std::vector<TomlValue> items;
    for (const TomlValue& item : value.items) {
      const std::size_t open = item.text.find('['), dots = item.text.find("..");
      if (dots == std::string::npos || !families_.contains(item.text.substr(0, open))) {
        items.push_back(item);
        continue;
      }
      const std::string range = fmt::format("i = {}", item.text.substr(open + 1, item.text.rfind(']') - open - 1));
      const ParsedRanges ranges = parse_ranges(range);
      TomlMember where;
      where.value = item;
      if (ranges.problems.empty())
        each(ranges.ranges, 0, {}, where, [&](const Indices& at) {
          items.push_back(item);
          items.back().text = fmt::format("{}[{}]", item.text.substr(0, open), at.at("i")),
          items.back().generated = true;
        });
      else
        items.push_back(item);
    }
    value.items = std::move(items);
    for (TomlValue& item : value.items) spread(item);
    for (TomlMember& m : value.members) spread(m.value);
  }

  /// Members with `for`, one by one; the others as they are.
  std::vector<TomlMember> members(const std::vector<TomlMember>& from, bool own) {
    std::vector<TomlMember> to;
    for (const TomlMember& m : from) {
      const TomlMember* range = m.value.find("for");
      if (!range || (!own && !mentions(m.value))) {
        TomlMember copy = m;
        if (mentions(m.value)) plain(copy.value, {});
        to.push_back(std::move(copy));
        continue;
      }
      if (range->value.type != TomlValue::Type::string) {
        wrong(range->value, "`for` is a string", "for example for = \"i = 1..N\"");
        continue;
      }
      const ParsedRanges ranges = parse_ranges(range->value.text);
      for (const ParseProblem& p : ranges.problems) wrong(range->value, p.message, p.hint);
      if (!ranges.problems.empty()) continue;
      const std::size_t open = m.name.find('[');
      std::string label = open == std::string::npos ? std::string() : m.name.substr(open);
      if (label.empty() && own && m.name.find('[') == std::string::npos) {
        wrong(m, fmt::format("{} stands for many and has no index", mechanician::quoted(m.name)),
              fmt::format("write \"{}[i]\"", printable(m.name)));
        continue;
      }
      each(ranges.ranges, 0, {}, *range, [&](const Indices& at) {
        TomlMember copy = m;
        std::erase_if(copy.value.members, [](const TomlMember& x) { return x.name == "for"; });
        if (label.empty()) {
          std::string numbers;
          for (const IndexRange& r : ranges.ranges)
            numbers += (numbers.empty() ? "" : ",") + std::to_string(at.at(r.name));
          copy.name = m.name + "[" + numbers + "]";
        } else {
          copy.name = m.name.substr(0, open) + index(label, at, m);
          if (defined_.contains(m.name.substr(0, open))) copy.name += of_definition;
        }
        plain(copy.value, at);
        if (!own && copy.value.members.size() == 1 && copy.value.members[0].name == "value")
          copy.value = TomlValue(copy.value.members[0].value);
        to.push_back(std::move(copy));
        if (to.size() > static_cast<std::size_t>(most_members)) good_ = false;
      });
    }
    return to;
  }

  template <class Do>
  void each(const std::vector<IndexRange>& ranges, std::size_t k, Indices at, const TomlMember& place, Do act) {
    if (k == ranges.size()) return act(at);
    const auto from = number(std::string(ranges[k].from), at, place.value),
               to = number(std::string(ranges[k].to), at, place.value);
    if (!from || !to) return;
    if (*to - *from >= most_members) return wrong(place.value, "that is more than can be written out");
    for (long i = *from; i <= *to; ++i) {
      at[ranges[k].name] = i;
      each(ranges, k + 1, at, place, act);
    }
  }

  /// A whole number of parameters and indices.
  std::optional<long> number(const std::string& text, const Indices& at, const TomlValue& place) {
    TomlValue value;
    value.type = TomlValue::Type::string, value.begin = place.begin, value.end = place.end, value.generated = true;
    value.text = put_in(text, at);
    const auto x = evaluate_(value, "for");
    if (!x) return good_ = false, std::nullopt;
    if (*x != std::round(*x) || std::abs(*x) > 1e15)
      return wrong(place, fmt::format("an index is a whole number, not {}", short_number(*x))), std::nullopt;
    return static_cast<long>(*x);
  }

  /// "[i - 1]" as "[2]".
  std::string index(const std::string& bracketed, const Indices& at, const TomlMember& place) {
    const std::string whole = "x" + bracketed;
    const ParsedName name = parse_name(whole);
    std::string out;
    for (const ParsedName::Piece& piece : name.indices) {
      TomlValue where;
      where.begin = place.begin, where.end = place.end;
      const auto n = number(std::string(piece.text), at, where);
      out += (out.empty() ? "" : ",") + (n ? std::to_string(*n) : "0");
    }
    return "[" + out + "]";
  }

  /// Numbers in the place of indices.
  static std::string put_in(const std::string& text, const Indices& at) {
    std::string out;
    std::size_t done = 0;
    each_name(text, [&](std::size_t offset, const std::string& name) {
      const auto found = at.find(name);
      if (found == at.end()) return;
      out.append(text, done, offset - done);
      out += found->second < 0 ? fmt::format("({})", found->second) : std::to_string(found->second);
      done = offset + name.size();
    });
    return out + text.substr(done);
  }

  bool mentions(const TomlValue& value) const {
    if (value.type == TomlValue::Type::string) {
      bool found = false;
      each_name(value.text, [&](std::size_t, const std::string& name) {
        found = found || families_.contains(name.substr(0, name.find('[')));
      });
      if (found) return true;
    }
    return std::any_of(value.members.begin(), value.members.end(),
                       [this](const TomlMember& m) { return mentions(m.value); }) ||
           std::any_of(value.items.begin(), value.items.end(), [this](const TomlValue& v) { return mentions(v); });
  }

  /// All texts below with numbers for the indices, and the members of our families by their names.
  void plain(TomlValue& value, const Indices& at) {
    if (value.type == TomlValue::Type::string && (!at.empty() || mentions(value))) {
      const std::string text = members_named(sums(put_in(value.text, at), value), value);
      if (text != value.text) value.text = text, value.generated = true;
    }
    for (TomlMember& m : value.members) {
      if (m.value.type == TomlValue::Type::table || m.name != "for") plain(m.value, at);
    }
    plain_names(value);
    for (TomlValue& item : value.items) plain(item, at);
  }
  void plain_names(TomlValue& table) {
    for (TomlMember& m : table.members) {
      const std::size_t open = m.name.find('[');
      if (open != std::string::npos && families_.contains(m.name.substr(0, open)))
        m.name = members_named(m.name, table);
    }
  }

  /// link[2 - 1].x is link[1].x.
  std::string members_named(const std::string& text, const TomlValue& place) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size()) {
        const CodePoint c = decode_utf8(text, end);
        if (!c.valid || !(end == i ? is_name_start(c.value) : is_name_part(c.value) || c.value == '.')) break;
        end += static_cast<std::size_t>(c.length);
      }
      if (end == i) {
        out += text[i++];
        continue;
      }
      const std::string name = text.substr(i, end - i);
      out += name, i = end;
      if (i >= text.size() || text[i] != '[' || !families_.contains(name)) continue;
      int open = 0;
      std::size_t close = i;
      for (; close < text.size(); ++close) {
        if (text[close] == '[') ++open;
        if (text[close] == ']' && --open == 0) break;
      }
      if (close >= text.size()) continue;
      const std::string inside = text.substr(i, close + 1 - i);
      if (inside.find("..") != std::string::npos) continue;
      TomlMember where;
      where.begin = place.begin, where.end = place.end;
      out += index(inside, {}, where), i = close + 1;
      if (defined_.contains(name)) out += of_definition;
    }
    return out;
  }

  /// sum(i = 1..N, …) of our families, term by term.
  std::string sums(const std::string& text, const TomlValue& place) {
    const std::size_t at = text.find("sum(");
    if (at == std::string::npos || (at > 0 && is_name_part(static_cast<unsigned char>(text[at - 1])))) return text;
    int open = 0;
    std::size_t close = at + 3;
    for (; close < text.size(); ++close) {
      if (text[close] == '(' || text[close] == '[') ++open;
      if ((text[close] == ')' || text[close] == ']') && --open == 0) break;
    }
    if (close >= text.size()) return text;
    // Ranges are the first parts that have a `..`; the last part is what is summed.
    std::vector<std::string> pieces{""};
    open = 0;
    for (std::size_t i = at + 4; i < close; ++i) {
      if (text[i] == '(' || text[i] == '[') ++open;
      if (text[i] == ')' || text[i] == ']') --open;
      if (text[i] == ',' && open == 0)
        pieces.emplace_back();
      else
        pieces.back() += text[i];
    }
    TomlValue body;
    body.type = TomlValue::Type::string, body.text = pieces.back();
    std::string rest = sums(text.substr(close + 1), place);
    if (!mentions(body)) return text.substr(0, close + 1) + rest;
    std::string range;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) range += (i == 0 ? "" : ",") + pieces[i];
    const ParsedRanges ranges = parse_ranges(range);
    if (!ranges.problems.empty()) return text;
    TomlMember where;
    where.value.begin = place.begin, where.value.end = place.end;
    std::string terms;
    each(ranges.ranges, 0, {}, where, [&](const Indices& indices) {
      terms += (terms.empty() ? "(" : " + (") + sums(put_in(pieces.back(), indices), place) + ")";
    });
    return text.substr(0, at) + "(" + (terms.empty() ? "0" : terms) + ")" + rest;
  }

  template <class At>
  void wrong(const At& at, const std::string& message, const std::string& hint = {}) {
    fields_.report(at, message, hint);
    good_ = false;
  }

  TomlValue& root_;
  FieldReader& fields_;
  const EvaluateField& evaluate_;
  std::set<std::string> families_, defined_;  ///< defined: those of definitions
  bool good_ = true;
};

}  // namespace

bool write_out_families(TomlValue& root, FieldReader& fields, const EvaluateField& evaluate) {
  return Families(root, fields, evaluate).write_out();
}

}  // namespace mechanician
