// Mass, centre and inertia of shapes. See bodies.hpp.

#include <fmt/format.h>

#include <numbers>

#include "mechanician/base/text.hpp"
#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

constexpr double pi = std::numbers::pi;

/// Volume and, for a density of one, moments about the axes through the centre; the axis of the shape is z.
struct Solid {
  Formula volume;
  Vector inertia;
};

Solid box(const Vector& s) {
  const Formula v = s[0] * s[1] * s[2], k = v / 12.0;
  const Formula xx = square(s[0]), yy = square(s[1]), zz = square(s[2]);
  return {v, {k * (yy + zz), k * (xx + zz), k * (xx + yy)}};
}

Solid sphere(const Formula& r) {
  const Formula v = 4.0 * pi / 3.0 * (square(r) * r), i = 0.4 * v * square(r);
  return {v, {i, i, i}};
}

Solid cylinder(const Formula& r, const Formula& l) {
  const Formula v = pi * (square(r) * l), across = v / 12.0 * (3.0 * square(r) + square(l));
  return {v, {across, across, 0.5 * v * square(r)}};
}

/// A cylinder of this length between two half balls.
Solid capsule(const Formula& r, const Formula& l) {
  Solid c = cylinder(r, l);
  const Solid s = sphere(r);
  // Half a ball: its centre of mass lies 3r/8 from its flat side.
  const Formula along = 0.4 * s.volume * square(r);
  const Formula side = s.volume * (0.4 * square(r) + 0.25 * square(l) + 0.375 * (l * r));
  return {c.volume + s.volume, {c.inertia[0] + side, c.inertia[1] + side, c.inertia[2] + along}};
}

Solid operator-(const Solid& a, const Solid& b) { return {a.volume - b.volume, a.inertia - b.inertia}; }

}  // namespace

void Layer::read_shape(Body& body, const TomlMember& field, bool has_centre, bool has_inertia, bool has_mass) {
  if (!fields_.table(field, "`shape`")) return;
  const TomlValue& table = field.value;
  const std::string path = "bodies." + body.name + ".shape", name = mechanician::quoted(body.name);
  fields_.check_keys(table,
                     {"box", "sphere", "cylinder", "capsule", "axis", "density", "mass", "inner", "at", "colour"},
                     fmt::format("in {}", mechanician::quoted(path)));
  const TomlMember* kinds[4] = {table.find("box"), table.find("sphere"), table.find("cylinder"), table.find("capsule")};
  int kind = -1, count = 0;
  for (int k = 0; k < 4; ++k)
    if (kinds[k]) kind = k, ++count;
  if (count != 1)
    return report(field, fmt::format("the shape of {} is {}", name, count == 0 ? "none that is known" : "given twice"),
                  "it is box = [a, b, c], sphere = r, cylinder = [r, length] or capsule = [r, length]");
  const TomlMember *density = table.find("density"), *own_mass = table.find("mass"), *inner = table.find("inner"),
                   *axis = table.find("axis"), *at = table.find("at");
  const auto sizes = [&](const TomlValue& value, std::size_t n) -> std::optional<Vector> {
    Vector s{0.0, 0.0, 0.0};
    const bool list = value.type == TomlValue::Type::array;
    if (list ? value.items.size() != n : n != 1) {
      report(value,
             fmt::format("this size of {} is {}", name, n == 1 ? "a number" : fmt::format("a list of {} numbers", n)));
      return std::nullopt;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const TomlValue& item = list ? value.items[k] : value;
      const auto f = formula(item, path, "m");
      if (!f) return std::nullopt;
      if (!(f->value > 0.0)) return report(item, fmt::format("a size of {} is not positive", name)), std::nullopt;
      s[k] = *f;
    }
    return s;
  };
  const auto size = sizes(kinds[kind]->value, kind == 0 ? 3 : kind == 1 ? 1 : 2);
  if (!size) return;
  const auto solid = [&](const Vector& s) {
    return kind == 0 ? box(s) : kind == 1 ? sphere(s[0]) : kind == 2 ? cylinder(s[0], s[1]) : capsule(s[0], s[1]);
  };
  Solid all = solid(*size);
  if (inner) {
    const auto hole = sizes(inner->value, kind == 0 ? 3 : 1);
    if (!hole) return;
    Vector s = *hole;
    if (kind >= 2) s[1] = (*size)[1];
    for (std::size_t k = 0; k < (kind == 0 ? 3u : 1u); ++k)
      if (!(s[k].value < (*size)[k].value))
        return report(inner->value, fmt::format("what is hollow in {} is larger than the shape", name));
    all = all - solid(s);
  }
  int along = 2;
  if (axis) {
    const bool is_text = axis->value.type == TomlValue::Type::string;
    const std::string* letter = is_text ? fields_.string(*axis, "`axis`") : nullptr;
    if (!letter || letter->size() != 1 || (*letter)[0] < 'x' || (*letter)[0] > 'z')
      return report(axis->value, "the axis of a shape is \"x\", \"y\" or \"z\"");
    along = (*letter)[0] - 'x';
  }
  if (kind >= 2 && along != 2) std::swap(all.inertia[2], all.inertia[static_cast<std::size_t>(along)]);
  Vector middle{0.0, 0.0, 0.0};
  if (at)
    if (const auto v = vector(*at, path, "m")) middle = *v;
  if (density && (own_mass || has_mass))
    return report(*density, fmt::format("both a density and a mass are given for {}", name),
                  "one follows from the other: leave one out");
  if (own_mass && has_mass) return report(*own_mass, fmt::format("the mass of {} is given twice", name));
  Formula rho = 0.0;
  if (density) {
    const auto f = formula(density->value, path, "kg/m^3");
    if (!f) return;
    if (!(f->value >= 0.0)) return report(density->value, fmt::format("the density of {} is negative", name));
    rho = *f, body.mass = rho * all.volume;
  } else if (own_mass || has_mass) {
    if (own_mass) {
      const auto f = formula(own_mass->value, path, "kg");
      if (!f) return;
      if (!(f->value >= 0.0)) return report(own_mass->value, fmt::format("the mass of {} is negative", name));
      body.mass = *f;
    }
    rho = body.mass / all.volume;
  }
  body.shape = &table, body.middle = middle;
  if (!has_centre) body.centre = middle;
  if (!has_inertia) {
    for (std::size_t i = 0; i < 3; ++i) body.inertia[i][i] = rho * all.inertia[i];
    body.has_inertia = true;
  }
}

}  // namespace mechanician::bodies
