// Random models in families, of every feature of the language, beside the same models written out here: what is read is the same.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "mechanician/expression/print.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// Where a text is written: with indices, or for one value of each.
struct At {
  bool family = true;
  std::map<std::string, long> values = {};
};
using Text = std::function<std::string(const At&)>;

std::string number(long i) { return std::to_string(i); }
std::string plus(const std::string& index, long shift) {
  return shift == 0 ? index : index + (shift < 0 ? " - " : " + ") + number(std::abs(shift));
}
/// x[i - 1], or x_2.
Text member(const std::string& family, const std::string& index, long shift, const std::string& primes = "") {
  return [=](const At& at) {
    return at.family ? family + "[" + plus(index, shift) + "]" + primes
                     : family + "_" + number(at.values.at(index) + shift) + primes;
  };
}
Text sum(const std::string& index, const Text& from, const Text& to, const Text& body) {
  return [=](const At& at) {
    if (at.family) return "sum(" + index + " = " + from(at) + ".." + to(at) + ", " + body(at) + ")";
    std::string all;
    for (long i = std::stol(from(at)); i <= std::stol(to(at)); ++i) {
      At inside = at;
      inside.values[index] = i;
      all += (all.empty() ? "(" : ") + (") + body(inside);
    }
    return all.empty() ? std::string("0") : "(" + all + "))";
  };
}
Text plain(const std::string& text) {
  return [=](const At&) { return text; };
}

class Writer {
 public:
  Writer(std::uint64_t seed, long n) : random_(seed), n_(n) {}

  /// The two texts.
  std::pair<std::string, std::string> write() {
    std::string coordinates, parameters = "[parameters]\nk = 1.5\n", plain_parameters = parameters;
    parameters += "N = " + number(n_) + "\nw = [";
    plain_parameters += "N = " + number(n_) + "\n";
    for (long i = 1; i <= n_ + 2; ++i) {
      const std::string value = i % 3 == 0 ? "\"k*" + number(i) + "\"" : number(i) + ".5";
      parameters += (i == 1 ? "" : ", ") + value;
      plain_parameters += "w_" + number(i) + " = " + value + "\n";
      coordinates += (i == 1 ? "\"x_" : ", \"x_") + number(i) + "\"";
    }
    for (long i = 1; i <= n_ + 2; ++i) coordinates += ", \"y_" + number(i) + "\"";
    family_ = "coordinates = [\"x[1..N+2]\", \"y[1..N+2]\", \"a\"]\n" + parameters + "]\n";
    written_ = "coordinates = [" + coordinates + ", \"a\"]\n" + plain_parameters;
    both("[unknown]\nf = \"t\"\n[define]\n");
    keyed("d", "define", expression(2));
    whole("e = \"", expression_of("j", 1), "\"\n");
    both("[dynamics]\n");
    if (chance(0.3)) {
      both("mass = { ", "mass = { ");
      family_ += "\"x[i]\" = { for = \"i = 2..N\", value = \"w[i]\" }, a = 2 }\n";
      for (long i = 2; i <= n_; ++i) written_ += "x_" + number(i) + " = \"w_" + number(i) + "\", ";
      written_ += "a = 2 }\n";
    } else {
      const Text kinetic =
          sum("i", plain("2"), plain(number(n_)), [f = expression(1), x = member("x", "i", 0, "'")](const At& at) {
            return "(" + f(at) + ")*" + x(at) + "^2";
          });
      both("kinetic = \"a'^2 + " + kinetic(At{}) + "\"\n", "kinetic = \"a'^2 + " + kinetic({false}) + "\"\n");
    }
    const Text potential = sum("i", plain("2"), plain(number(n_)), expression(2));
    both("potential = \"e + " + potential(At{}) + "\"\n", "potential = \"e + " + potential({false}) + "\"\n");
    both("[dynamics.force]\n");
    keyed("x", "force", expression(3, true));
    both("[nonideal]\n");
    keyed("y", "nonideal", [f = expression(1)](const At& at) {
      return "multiplier(" + member("rod", "i", 0)(at) + ")*ideal(" + member("x", "i", 1)(at) + ") + " + f(at);
    });
    rows();
    both("[start.position]\n");
    keyed("x", "start", [](const At& at) { return "0.5*" + (at.family ? "i" : number(at.values.at("i"))) + " + k"; });
    both("[start.velocity]\n");
    keyed("y", "start", [](const At& at) { return member("w", "i", 0)(at) + "/k"; });
    both("[outputs]\n");
    keyed("o", "outputs", expression(3, true));
    whole("total = \"", expression_of("j", 2), "\"\n");
    view();
    return {family_, written_};
  }

 private:
  bool chance(double p) { return std::uniform_real_distribution<double>()(random_) < p; }
  long pick(long from, long to) { return std::uniform_int_distribution<long>(from, to)(random_); }
  void both(const std::string& family, const std::string& written) { family_ += family, written_ += written; }
  void both(const std::string& text) { both(text, text); }

  /// An expression of members around index i = 2..N; with velocities where wanted.
  Text expression(int depth, bool velocities = false) { return expression_of("i", depth, velocities); }
  Text expression_of(const std::string& i, int depth, bool velocities = false) {
    const auto inner = [&] { return expression_of(i, depth - 1, velocities); };
    switch (depth <= 0 ? pick(0, 3) : pick(0, 8)) {
      case 0:
        return member(chance(0.5) ? "x" : "y", i, i == "i" ? pick(-1, 2) : pick(0, 2),
                      velocities && chance(0.5) ? "'" : "");
      case 1:
        return member("w", i, pick(0, 2));
      case 2:
        return [i](const At& at) { return at.family ? i : number(at.values.at(i)); };
      case 3:
        return plain(chance(0.5) ? "k" : "a");
      case 4: {
        const Text a = inner(), b = inner();
        return [=](const At& at) { return "(" + a(at) + ") - (" + b(at) + ")*t"; };
      }
      case 5: {
        const Text a = inner();
        return [=](const At& at) { return "sin(" + a(at) + ")^2"; };
      }
      case 6:
        if (i == "i" && defined_) return member("d", i, 0);
        return member("x", i, 0);
      case 7: {  // a sum whose bounds depend on the index; from 1 to 0 it is nothing
        const std::string j = i == "i" ? "j" : "l";
        const Text from = [i](const At& at) { return at.family ? i : number(at.values.at(i)); };
        const Text to = [i, more = pick(-1, 1)](const At& at) {
          return at.family ? plus(i, more) : number(at.values.at(i) + more);
        };
        return sum(j, from, to, member(chance(0.5) ? "x" : "w", j, 0));
      }
      default: {
        const Text a = inner();
        const long limit = pick(1, n_);
        return [=](const At& at) {
          return "if(" + (at.family ? i : number(at.values.at(i))) + " > " + number(limit) + ", " + a(at) + ", a)";
        };
      }
    }
  }

  /// A sum over all, for a field without indices.
  void whole(const std::string& before, const Text& body, const std::string& after) {
    const Text all = sum("j", plain("1"), plain(number(n_)), body);
    both(before + all(At{}) + after, before + all({false, {}}) + after);
  }

  /// "x[i]" = { for = "i = 2..N", value = "…" }, and all of them one by one.
  void keyed(const std::string& name, const std::string& section, const Text& value) {
    family_ += "\"" + name + "[i]\" = { for = \"i = 2..N\", value = \"" + value(At{}) + "\" }\n";
    for (long i = 2; i <= n_; ++i) written_ += name + "_" + number(i) + " = \"" + value({false, {{"i", i}}}) + "\"\n";
    defined_ |= section == "define";
  }

  /// A table with `for`, and all of them one by one.
  void table(const std::string& section, const std::string& name,
             const std::vector<std::pair<std::string, Text>>& fields) {
    family_ += "[" + section + "." + name + "]\nfor = \"i = 2..N\"\n";
    for (const auto& [key, text] : fields) family_ += key + " = " + text(At{}) + "\n";
    for (long i = 2; i <= n_; ++i) {
      written_ += "[" + section + "." + name + "_" + number(i) + "]\n";
      for (const auto& [key, text] : fields) written_ += key + " = " + text({false, {{"i", i}}}) + "\n";
    }
  }
  static Text quoted(const Text& text) {
    return [=](const At& at) { return "\"" + text(at) + "\""; };
  }
  Text equation(const std::string& sign, bool velocities) {
    return quoted([f = expression(2, velocities), x = member("x", "i", 0, velocities ? "'" : ""), sign](const At& at) {
      return x(at) + " " + sign + " " + f(at);
    });
  }

  void rows() {
    table("constraints", "rod", {{"equation", equation("=", chance(0.3))}});
    table("constraints", "gap",
          {{"equation", equation(chance(0.5) ? ">=" : "<=", false)},
           {"restitution", quoted([](const At& at) { return "1/" + (at.family ? "i" : number(at.values.at("i"))); })},
           {"friction", quoted(member("w", "i", 0))},
           {"slip", quoted(member("x", "i", 1, "'"))}});
    table("constraints", "rough",
          {{"equation", equation("=", false)},
           {"friction", plain("0.1")},
           {"slip", [](const At& at) {
              return "[\"" + member("x", "i", 0, "'")(at) + "\", \"k*" + member("y", "i", -1, "'")(at) + "\"]";
            }}});
    table("constraints", "gauge", {{"equation", equation("=", true)}, {"weight", quoted(member("w", "i", 1))}});
    table("constraints", "push",
          {{"equation", quoted([x = member("x", "i", 0, "''")](const At& at) { return x(at) + " = f'"; })}});
    whole("[constraints]\nsum_of_all = \"", member("x", "j", 0), "^2 = 3\"\n");
    both("[measured]\nconstraints = [\"rod[2]\", \"rod[3]\"]\nweight = [[\"w[2]\", 0], [0, \"k\"]]\n",
         "[measured]\nconstraints = [\"rod_2\", \"rod_3\"]\nweight = [[\"w_2\", 0], [0, \"k\"]]\n");
    table(
        "control", "hold",
        {{"equation", equation("=", false)}, {"frequency", quoted(member("w", "i", 0))}, {"damping", plain("\"k\"")}});
    table("events", "pass", {{"when", quoted(expression(2, true))}, {"do", plain("\"stop\"")}});
  }

  void view() {
    table("view.points", "p", {{"at", [](const At& at) {
                                  return "[\"" + member("x", "i", 0)(at) + "\", \"k*" + member("y", "i", 1)(at) + "\"]";
                                }}});
    both("[view.lines]\nall = [\"p[2..N]\", [\"0\", \"a\"]]\n", "[view.lines]\nall = [");
    for (long i = 2; i <= n_; ++i) written_ += "\"p_" + number(i) + "\", ";
    written_ += "[\"0\", \"a\"]]\n";
    table("view.discs", "c",
          {{"at", quoted(member("p", "i", 0))}, {"radius", quoted(member("w", "i", 0))}, {"angle", plain("\"a\"")}});
  }

  std::mt19937_64 random_;
  long n_;
  bool defined_ = false;
  std::string family_, written_;
};

std::string text_of(const Model& model) {
  std::string text;
  const auto add = [&](const std::string& name, const Expr& f) { text += name + ": " + to_text(f) + "\n"; };
  for (const Coordinate& c : model.coordinates) text += c.name + "\n";
  for (const Parameter& p : model.parameters) add(p.name, p.value);
  for (const Expr& u : model.unknowns) add("unknown", u);
  for (const Named& d : model.definitions) add(d.name, d.value);
  if (model.kinetic) add("kinetic", *model.kinetic);
  if (model.potential) add("potential", *model.potential);
  for (const auto& row : model.mass)
    for (const Expr& f : row) add("mass", f);
  for (const Named& f : model.forces) add("force " + f.name, f.value);
  for (const Named& f : model.nonideal) add("nonideal " + f.name, f.value);
  for (const Constraint& c : model.constraints) {
    add(c.name + (c.one_sided ? " one-sided" : ""), c.residual);
    if (c.weight) add("weight", *c.weight);
    if (c.restitution) add("restitution", *c.restitution);
    if (c.friction) add("friction", c.friction->coefficient);
    for (std::size_t k = 0; c.friction && k < c.friction->slip.size(); ++k) add("slip", c.friction->slip[k]);
  }
  for (const Control& c : model.controls)
    add(c.name, c.residual), add("frequency", *c.frequency), add("damping", c.damping);
  for (const Measured& m : model.measured) {
    for (const std::string& name : m.constraints) text += name + "\n";
    for (const auto& row : m.weight)
      for (const Expr& f : row) add("weight", f);
  }
  for (const Event& e : model.events) add(e.name + (e.action == EventAction::stop ? " stop" : ""), e.when);
  for (const Named& o : model.outputs) add(o.name, o.value);
  for (const Coordinate& c : model.coordinates) {
    if (model.start.position.contains(c.name)) add("at " + c.name, model.start.position.at(c.name));
    if (model.start.velocity.contains(c.name)) add("with " + c.name, model.start.velocity.at(c.name));
  }
  for (const ViewItem& item : model.view->items) {
    for (const ViewVector& p : item.points) add(item.name, p[0]), add(item.name, p[1]);
    add("radius", item.radius);
    for (const Expr& f : item.turn.values) add("turn", f);
  }
  return text;
}

/// x[3] as x_3.
std::string as_written(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != ']') result += c == '[' ? '_' : c;
  return result;
}

TEST(FamilyRandom, AFamilyMeansWhatTheLongWayOfWritingMeans) {
  for (const long n : {3L, 30L, 300L})
    for (std::uint64_t seed = 1; seed <= (n == 300 ? 3u : 40u); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", N = " + std::to_string(n));
      const auto [family, written] = Writer(seed, n).write();
      try {
        const Model model = read_model_text(family, "family.toml");
        const std::string found = as_written(text_of(model)),
                          expected = text_of(read_model_text(written, "written.toml"));
        if (found == expected) continue;
        const auto at = static_cast<std::size_t>(
            std::mismatch(found.begin(), found.end(), expected.begin(), expected.end()).first - found.begin());
        const std::size_t from = at < 200 ? 0 : at - 200;
        ADD_FAILURE() << "…" << found.substr(from, 400) << "\n\ninstead of\n\n…" << expected.substr(from, 400);
      } catch (const ModelError& e) {
        ADD_FAILURE() << e.what();
      }
      return;
    }
}

/// The sum of all values of a model at one state does not depend on how it is written; nor does what a family model says of itself.
TEST(FamilyRandom, TheStatedModelKeepsItsFamilies) {
  const FamilyModel model = read_family_model_text(Writer(7, 300).write().first, "family.toml");
  EXPECT_EQ(model.num_coordinates(), 605);
  EXPECT_EQ(model.find("y[302]"), 603);
  EXPECT_EQ(model.name_of(603), "y[302]");
  EXPECT_LT(model.terms.size(), 30u);
  EXPECT_FALSE(model.sums.empty());
}

}  // namespace
}  // namespace mechanician
