#include "mechanician/output/term_equations_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/large/term_equations.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/output/readable.hpp"

namespace mechanician {

namespace {

/// An index that comes from a definition is i#3 inside.
std::string plain(std::string text) {
  for (char& c : text)
    if (c == '#') c = '_';
  return text;
}
std::string shown(const Expr& f) { return plain(print(readable(f), {.max_length = 4000})); }
std::string range(const TermIndex& i) { return fmt::format("{}..{}", shown(i.from), shown(i.to)); }

const char* name_of(const Term& term) {
  return term.kind == TermKind::kinetic     ? "kinetic energy"
         : term.kind == TermKind::potential ? "potential energy"
         : term.kind == TermKind::force     ? "force"
         : term.is_rate                     ? "state"
                                            : "constraint";
}

class Names {
 public:
  explicit Names(const TermEquations& part) : term_(part.term) {}
  /// "x[i - 1]"; −1: what the force of the term acts on.
  std::string coordinate(int i) const {
    const MemberSymbol& m = i < 0 ? term_.target : term_.coordinates[static_cast<std::size_t>(i)];
    return plain(m.symbol.symbol().name);
  }
  /// "rod[i]"
  std::string row() const {
    if (term_.is_rate) return coordinate(-1);
    std::string indices;
    for (const TermIndex& i : term_.indices) indices += (indices.empty() ? "" : ", ") + plain(i.name);
    return indices.empty() ? term_.name : fmt::format("{}[{}]", term_.name, indices);
  }

 private:
  const Term& term_;
};

std::string family_text(const CoordinateFamily& family) {
  return family.bounds.empty() ? family.name : fmt::format("{}[{}]", family.name, text_of(family.bounds));
}

}  // namespace

std::string term_equations_text(const FamilyModel& model) {
  std::string out = model.title.empty() ? "" : safe_text(model.title) + "\n\n";
  out += "M q'' = Q + Qc,   A q'' = b\n";
  for (const bool states : {false, true}) {
    long count = 0;
    std::string names;
    for (const CoordinateFamily& family : model.coordinates)
      if (family.is_state == states) count += family.count, names += (names.empty() ? "" : ", ") + family_text(family);
    if (count > 0 || !states)
      out += fmt::format("{}{} {}: {}", states ? "\n" : "", count, states ? "states" : "coordinates", names);
  }
  out += "\nEach entry is the sum of what is said of it below, over all members of the terms.\n";
  for (const TermEquations& part : derive_by_term(model)) {
    const Names names(part);
    const bool row = part.term.kind == TermKind::constraint;
    out += fmt::format("\n{}{}", name_of(part.term), row ? " " + names.row() : "");
    for (const TermIndex& i : part.term.indices) out += fmt::format(", {} = {}", plain(i.name), range(i));
    out += row && !part.term.text.empty() ? fmt::format(": {}\n", part.term.text)
                                          : fmt::format(": {}\n", shown(part.term.body));
    if (part.term.is_rate) {
      out += fmt::format("  {}' = {}\n", names.row(),
                         shown(part.term.body.op() == Op::sub ? part.term.body.arg(1) : Expr(0.0)));
      continue;
    }
    for (const TermEquations::Entry& e : part.M)
      if (e.row <= e.col)
        out += fmt::format("  M[{}, {}] += {}\n", names.coordinate(e.row), names.coordinate(e.col), shown(e.value));
    for (const TermEquations::Entry& e : part.Q)
      out += fmt::format("  Q[{}] += {}\n", names.coordinate(e.row), shown(e.value));
    for (const TermEquations::Entry& e : part.A)
      out += fmt::format("  A[{}, {}] = {}\n", names.row(), names.coordinate(e.col), shown(e.value));
    if (row) out += fmt::format("  b[{}] = {}\n", names.row(), shown(part.b));
  }
  out += "\nClosed forms are for few coordinates: ask for them with smaller families, for example --set N=2.\n";
  return out;
}

std::string term_equations_json(const FamilyModel& model) {
  JsonWriter json;
  json.begin_object().key("title").value(model.title).key("coordinates").begin_array();
  for (const CoordinateFamily& family : model.coordinates)
    if (!family.is_state) json.value(family_text(family));
  json.end_array();
  if (std::any_of(model.coordinates.begin(), model.coordinates.end(), [](const auto& f) { return f.is_state; })) {
    json.key("states").begin_array();
    for (const CoordinateFamily& family : model.coordinates)
      if (family.is_state) json.value(family_text(family));
    json.end_array();
  }
  json.key("terms").begin_array();
  for (const TermEquations& part : derive_by_term(model)) {
    const Names names(part);
    const bool row = part.term.kind == TermKind::constraint;
    json.begin_object().key("kind").value(name_of(part.term));
    if (row) json.key("name").value(names.row());
    json.key("indices").begin_array();
    for (const TermIndex& i : part.term.indices)
      json.begin_object()
          .key("name")
          .value(plain(i.name))
          .key("from")
          .value(shown(i.from))
          .key("to")
          .value(shown(i.to))
          .end_object();
    json.end_array().key("body").value(shown(part.term.body));
    json.key("M").begin_array();
    for (const TermEquations::Entry& e : part.M)
      json.begin_array()
          .value(names.coordinate(e.row))
          .value(names.coordinate(e.col))
          .value(shown(e.value))
          .end_array();
    json.end_array().key("Q").begin_array();
    for (const TermEquations::Entry& e : part.Q)
      json.begin_array().value(names.coordinate(e.row)).value(shown(e.value)).end_array();
    json.end_array();
    if (row) {
      json.key("A").begin_array();
      for (const TermEquations::Entry& e : part.A)
        json.begin_array().value(names.coordinate(e.col)).value(shown(e.value)).end_array();
      json.end_array().key("b").value(shown(part.b));
    }
    json.end_object();
  }
  json.end_array().key("closed_form").null().end_object();
  return json.text();
}

}  // namespace mechanician
