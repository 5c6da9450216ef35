#include "mechanician/exports/c_printer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace mechanician {

namespace {

/// How an operator is written: {0}, {1}, {2} are its operands, @ the prefix of C, f the functions of Python.
struct Spelling {
  int code;
  std::string_view text, python;
};

constexpr int code(Op op) { return static_cast<int>(op); }
constexpr int code(Action action) { return static_cast<int>(action); }

constexpr Spelling spellings[] = {
    {code(Op::add), "{0} + {1}", "{0} + {1}"},
    {code(Op::sub), "{0} - {1}", "{0} - {1}"},
    {code(Op::mul), "{0}*{1}", "{0}*{1}"},
    {code(Op::div), "{0}/{1}", "{0}/{1}"},
    {code(Op::pow), "@power({0}, {1})", "{0}**{1}"},
    {code(Op::neg), "-{0}", "-{0}"},
    {code(Op::sin), "@sine({0})", "f.sin({0})"},
    {code(Op::cos), "@cosine({0})", "f.cos({0})"},
    {code(Op::tan), "tan({0})", "f.tan({0})"},
    {code(Op::asin), "asin({0})", "f.asin({0})"},
    {code(Op::acos), "acos({0})", "f.acos({0})"},
    {code(Op::atan), "atan({0})", "f.atan({0})"},
    {code(Op::atan2), "atan2({0}, {1})", "f.atan2({0}, {1})"},
    {code(Op::sinh), "sinh({0})", "f.sinh({0})"},
    {code(Op::cosh), "cosh({0})", "f.cosh({0})"},
    {code(Op::tanh), "tanh({0})", "f.tanh({0})"},
    {code(Op::asinh), "asinh({0})", "f.asinh({0})"},
    {code(Op::acosh), "acosh({0})", "f.acosh({0})"},
    {code(Op::atanh), "atanh({0})", "f.atanh({0})"},
    {code(Op::exp), "exp({0})", "f.exp({0})"},
    {code(Op::log), "log({0})", "f.log({0})"},
    {code(Op::sqrt), "sqrt({0})", "f.sqrt({0})"},
    {code(Op::abs), "fabs({0})", "abs({0})"},
    {code(Op::sign), "@sign({0})", "sign({0}, f)"},
    {code(Op::min), "@least({0}, {1})", "least({0}, {1}, f)"},
    {code(Op::max), "@largest({0}, {1})", "largest({0}, {1}, f)"},
    {code(Op::hypot), "hypot({0}, {1})", "f.sqrt({0}**2 + {1}**2)"},
    {code(Op::mod), "@modulo({0}, {1})", "{0} % {1}"},
    {code(Op::select), "{0} != 0 ? {1} : {2}", "where({0}, {1}, {2}, f)"},
    {code(Op::lookup), "@lookup({0}, {1})", ""},
    {code(Op::lt), "{0} < {1} ? 1 : 0", "{0} < {1}"},
    {code(Op::le), "{0} <= {1} ? 1 : 0", "{0} <= {1}"},
    {code(Op::gt), "{0} > {1} ? 1 : 0", "{0} > {1}"},
    {code(Op::ge), "{0} >= {1} ? 1 : 0", "{0} >= {1}"},
    {code(Op::eq), "@equal({0}, {1})", "equal({0}, {1}, f)"},
    {code(Op::logical_and), "({0} != 0 && {1} != 0) ? 1 : 0", "both({0}, {1}, f)"},
    {code(Op::logical_or), "({0} != 0 || {1} != 0) ? 1 : 0", "either({0}, {1}, f)"},
    {code(Op::logical_not), "{0} != 0 ? 0 : 1", "opposite({0}, f)"},
    {code(Action::fma), "fma({0}, {1}, {2})", "{0}*{1} + {2}"},
    {code(Action::fms), "fma({0}, {1}, -{2})", "{0}*{1} - {2}"},
    {code(Action::fnma), "fma(-{0}, {1}, {2})", "{2} - {0}*{1}"},
};

}  // namespace

std::string_view c_spelling(Action action) {
  for (const Spelling& s : spellings)
    if (s.code == static_cast<int>(action)) return s.text;
  throw std::invalid_argument("C has no way to write an operator of this model");
}

int num_operands(Action action) {
  const std::string_view text = c_spelling(action);
  return text.find("{2}") != std::string_view::npos ? 3 : text.find("{1}") != std::string_view::npos ? 2 : 1;
}

std::string_view python_spelling(Action action) {
  for (const Spelling& s : spellings)
    if (s.code == static_cast<int>(action) && !s.python.empty()) return s.python;
  throw std::invalid_argument("Python has no way to write a table of data of this model");
}

std::string with_prefix(std::string_view text, std::string_view prefix) {
  std::string out;
  for (const char c : text) {
    if (c == '@')
      out += prefix;
    else
      out += c;
  }
  return out;
}

std::string c_number(double x) {
  if (std::isnan(x)) return "NAN";
  if (std::isinf(x)) return x < 0 ? "-INFINITY" : "INFINITY";
  const std::string shortest = fmt::format("{}", x);
  return shortest.find_first_of(".en") == std::string::npos ? shortest + ".0" : shortest;
}

namespace {

/// A function of C, and what it is called by; behind those that it calls itself.
struct Helper {
  std::string_view name, text;
};

constexpr Helper helpers[] = {
    {"@reduced(", R"(
/* Sine and cosine by the same steps on every machine: x = n pi/2 + r, |r| <= pi/4, and polynomials of r. */
@FUSED static void @reduced(double x, double *sine, double *cosine)
{
  const double shifted = fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52), n = shifted - 0x1.8p52;
  const double r1 = fma(-n, 0x1.921fb54442d18p+0, x);
  const double high = n*0x1.1a62633145c07p-54, low = fma(n, 0x1.1a62633145c07p-54, -high);
  const double sum = r1 - high, back = sum - r1, error = (r1 - (sum - back)) - (high + back);
  const double r = sum, t = fma(-n, -0x1.f1976b7ed8fbcp-110, error - low);
  const double z = r*r, z2 = z*z;
  const double S = fma(z2, fma(z2, fma(z, 0x1.5d932f7c42389p-33, -0x1.ae5e66d594c9dp-26), fma(z, 0x1.71de357875419p-19, -0x1.a01a019c126c1p-13)),
                       fma(z, 0x1.111111110f881p-7, -0x1.5555555555549p-3));
  const double C = fma(z2, fma(z2, fma(z, -0x1.8faecf7d650f1p-37, 0x1.1ee9ec484435bp-29), fma(z, -0x1.27e4f80a77278p-22, 0x1.a01a019cb2701p-16)),
                       fma(z, -0x1.6c16c16c15184p-10, 0x1.555555555554cp-5));
  const double half = 0.5*z, w = 1.0 - half, half_error = 0.5*fma(r, r, -z);
  const double s = fabs(x) < 0x1p-27 ? x : r + fma(r*z, S, t*w);
  const double c = w + (((1.0 - w) - half) + fma(z2, C, -fma(r, t, half_error)));
  const long quadrant = (long)n & 3;
  const double first = (quadrant & 1) ? c : s, second = (quadrant & 1) ? s : c;
  *sine = (quadrant & 2) ? -first : first;
  *cosine = ((quadrant + 1) & 2) ? -second : second;
}
)"},
    {"@sine_cosine(", R"(static void @sine_cosine(double x, double *sine, double *cosine)
{
  if (fabs(x) <= 0x1p20) @reduced(x, sine, cosine);
  else *sine = sin(x), *cosine = cos(x);
}
)"},
    {"@sine(", "static double @sine(double x) { double s, c; @sine_cosine(x, &s, &c); return s; }\n"},
    {"@cosine(", "static double @cosine(double x) { double s, c; @sine_cosine(x, &s, &c); return c; }\n"},
    {"@same(", "static int @same(double a, double b) { return !(a < b) && !(a > b) && !isnan(a) && !isnan(b); }\n"},
    {"@equal(", "static double @equal(double a, double b) { return @same(a, b) ? 1 : 0; }\n"},
    {"@power(", R"(static double @power(double a, double b)
{
  if (@same(b, 2)) return a*a;
  if (@same(b, 3)) return a*a*a;
  if (@same(b, -1)) return 1/a;
  return pow(a, b);
}
)"},
    {"@sign(", "static double @sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : isnan(a) ? a : 0; }\n"},
    {"@least(", "static double @least(double a, double b) { return isnan(a) ? a : (b < a || isnan(b)) ? b : a; }\n"},
    {"@largest(",
     "static double @largest(double a, double b) { return isnan(a) ? a : (b > a || isnan(b)) ? b : a; }\n"},
    {"@modulo(", R"(static double @modulo(double a, double b)
{
  const double rest = fmod(a, b);
  return @same(rest, 0) ? rest*0 : (rest < 0) != (b < 0) ? rest + b : rest;
}
)"},
};

}  // namespace

std::string c_operators(std::string_view prefix, std::string_view code) {
  std::string wanted(code), out;
  for (std::size_t k = std::size(helpers); k-- > 0;) {
    if (wanted.find(with_prefix(helpers[k].name, prefix)) == std::string::npos) continue;
    const std::string text = with_prefix(helpers[k].text, prefix);
    out = text + out;
    wanted += text;
  }
  return out + "\n";
}

}  // namespace mechanician
