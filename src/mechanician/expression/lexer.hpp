#pragma once

/// Tokens of the expression language. Internal to the parser.

#include <string>
#include <string_view>

namespace mechanician {

enum class TokenKind {
  number,
  name,  ///< with its primes; may have dots between its parts, as in a.b.c
  sign,  ///< + - * / ^ ( ) , < <= > >= == = [ ] ..; primes may follow ]
  end,
  error,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::size_t offset = 0;
  std::string_view text;  ///< name without primes, sign
  double number = 0.0;
  int primes = 0;
  std::string message, hint;  ///< of an error
  std::size_t length() const { return text.size() + static_cast<std::size_t>(primes); }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();
  /// Goes on reading there.
  void seek(std::size_t offset) { at_ = offset; }

 private:
  Token number();
  Token name();
  Token sign();
  Token error(std::size_t length, std::string message, std::string hint = {});

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace mechanician
