/// Any words are either a command with options or are refused with a reason; numbers, variations and patterns in them too. Words are lines.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/cli/command_line.hpp"
#include "mechanician/ensemble/samples.hpp"
#include "require.hpp"

namespace {

using namespace mechanician;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string word(text.substr(0, end));
    word = word.substr(0, word.find('\0'));  // a word of a command line ends there
    words.push_back(std::move(word));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

/// What commands do next with texts that they were given.
void parse_further(const CommandOptions& options) {
  for (const std::string* text : {&options.to, &options.every, &options.tolerance, &options.time, &options.step})
    if (!text->empty()) parse_number(*text, "a number");
  std::vector<Variation> variations;
  for (const std::string& text : options.vary) variations.push_back(parse_variation(text));
  if (variations.empty()) return;
  const SamplePlan plan(std::move(variations), {.count = 2, .seed = 1});
  require(!plan.names().empty() && plan.count() > 0, "what varies has a name and values");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> words = words_of({reinterpret_cast<const char*>(data), size});
  try {
    const CommandLine line = parse_command_line(words);
    require(!line.command.empty() || !line.out.empty() || !line.note.empty(), "something is done or said");
    require(line.command.empty() || line.command == "completion" || line.command == "plot" || line.command == "run" ||
                line.command == "sweep" || !line.options.model.empty(),
            "a command has a model");
    parse_further(line.options);
  } catch (const UsageError& e) {
    require(*e.what() != '\0', "a refusal has a reason");
  } catch (const std::invalid_argument& e) {
    require(*e.what() != '\0', "a refusal has a reason");
  }
  return 0;
}
