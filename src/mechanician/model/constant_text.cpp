#include "mechanician/model/constant_text.hpp"

#include <charconv>
#include <cmath>

#include "mechanician/expression/parse.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {

std::optional<double> constant_value(std::string_view text) {
  constexpr std::size_t longest = 10000;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0.0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ptr == text.data() + text.size() && !text.empty()) {
    if (read.ec != std::errc{} || !std::isfinite(value)) return std::nullopt;
    return value;
  }
  if (text.size() > longest || text.starts_with('+')) return std::nullopt;
  const NameScope nothing{.find = [](std::string_view, int) { return std::nullopt; },
                          .explain = [](std::string_view, int) { return ParseProblem{}; }};
  const ParsedExpression parsed = parse_expression(text, nothing);
  if (!parsed.problems.empty() || !parsed.value) return std::nullopt;
  const double number = Tape(std::vector<Expr>{*parsed.value}, std::vector<Expr>{})(std::span<const double>{}).front();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

}  // namespace mechanician
