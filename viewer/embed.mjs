// The built page as a C++ source: node embed.mjs PAGE.html SOURCE.cpp
// In pieces, since compilers limit the length of a literal.
import { readFileSync, writeFileSync } from "node:fs";

const [, , page, source] = process.argv;
const bytes = readFileSync(page);
const pieces = [];
for (let i = 0; i < bytes.length; i += 16000) {
  let piece = "";
  for (const byte of bytes.subarray(i, i + 16000)) {
    const c = String.fromCharCode(byte);
    if (c === "\n") piece += '\\n"\n    "';
    else if (c === '"' || c === "\\" || c === "?") piece += "\\" + c;
    else if (byte >= 32 && byte < 127) piece += c;
    else piece += "\\" + byte.toString(8).padStart(3, "0");
  }
  pieces.push(`    std::string_view("${piece}", ${Math.min(16000, bytes.length - i)}),`);
}
writeFileSync(
  source,
  `#include <string>

#include "mechanician/report/report.hpp"

namespace mechanician {

namespace {

constexpr std::string_view pieces[] = {
${pieces.join("\n")}
};

}  // namespace

std::optional<std::string_view> report_page() {
  static const std::string page = [] {
    std::string whole;
    for (const std::string_view piece : pieces) whole += piece;
    return whole;
  }();
  return page;
}

}  // namespace mechanician
`,
);
