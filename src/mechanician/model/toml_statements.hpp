#pragma once

/// The lines of a TOML file as statements: `[section]` and `name = value`.
///
/// toml++ stops at the first mistake. To report all of them, the text is cut into statements by a scan that knows only
/// strings, brackets and comments; what is wrong is taken out statement by statement and the rest is read. The scan
/// also bounds nesting, which toml++ would follow on the stack.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mechanician {

/// Brackets inside brackets, and names joined by dots, that a value or key may have. The language needs three.
inline constexpr int deepest_nesting = 32, most_dots = 16;

struct Statement {
  enum class Kind { header, pair } kind = Kind::pair;
  std::size_t begin = 0, end = 0;          ///< bytes of the text, from a line's beginning to a line's end
  std::size_t key_begin = 0, key_end = 0;  ///< name of the section or left of the =
  std::size_t value_begin = 0;             ///< of a pair: behind the =
  int section = -1;                        ///< of a pair: index of its header, or −1
  bool bad = false;
};

/// A mistake with the statement that it spoils.
struct StatementProblem {
  std::size_t statement = 0;
  std::size_t begin = 0, end = 0;
  std::string message, hint;
};

struct StatementScan {
  std::vector<Statement> statements;
  std::vector<StatementProblem> problems;  ///< one for each bad statement
};
StatementScan scan_statements(std::string_view text);

/// The names of a dotted key; nothing if it is none.
std::optional<std::vector<std::string>> key_names(std::string_view key);
/// The same for a key that may be broken: as many leading names as can be read, foreign letters included.
std::vector<std::string> guess_key_names(std::string_view key);

/// What is wrong with a statement at a place where toml++ stopped with a message of its own.
StatementProblem explain_syntax(std::string_view text, const std::vector<Statement>& statements, std::size_t statement,
                                std::size_t offset, std::string_view description);

}  // namespace mechanician
