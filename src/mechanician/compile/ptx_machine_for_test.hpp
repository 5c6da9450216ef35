#pragma once

/// Runs the PTX that ptx_code.cpp writes, on this machine: one thread after the other, instruction by instruction, as the
/// manual of the instruction set defines them. Pointers of kernel parameters are those of this process. For tests: it shares no
/// code with the writer. An instruction that it does not know, a register that was never written and a label that is missing
/// are errors.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mechanician {

class PtxMachine {
 public:
  explicit PtxMachine(const std::string& text) {
    std::istringstream lines(text);
    bool in_body = false;
    for (std::string line; std::getline(lines, line);) {
      std::string cleaned;
      for (const char ch : line) cleaned += ch == ',' || ch == ';' || ch == '\t' || ch == '[' || ch == ']' ? ' ' : ch;
      std::istringstream words(cleaned);
      std::vector<std::string> w;
      for (std::string word; words >> word;) w.push_back(word);
      if (w.empty() || w[0] == "//") continue;
      if (w[0] == ".visible") entry_ = w[2].substr(0, w[2].find('('));
      if (w[0] == ".param") parameters_.push_back(w[2]);
      if (w[0] == ".global") {
        std::vector<double>& numbers = arrays_[w[4]];
        for (std::size_t k = 7; k < w.size(); ++k) {
          std::string word;
          for (const char ch : w[k])
            if (ch != '{' && ch != '}') word += ch;
          numbers.push_back(number(word));
        }
        if (std::to_string(numbers.size()) != w[5]) throw std::runtime_error("size of " + w[4]);
      }
      if (w[0] == "{") in_body = true;
      if (w[0][0] == '.' || w[0] == "{" || w[0] == "}" || !in_body) continue;
      if (w[0].back() == ':')
        labels_[w[0].substr(0, w[0].size() - 1)] = code_.size();
      else
        code_.push_back(std::move(w));
    }
  }

  const std::string& entry() const { return entry_; }
  std::size_t num_instructions() const { return code_.size(); }

  /// `arguments`: the 64 bits of each kernel parameter.
  void launch(const std::vector<std::uint64_t>& arguments, unsigned blocks, unsigned threads) {
    if (arguments.size() != parameters_.size()) throw std::runtime_error("number of parameters");
    for (unsigned block = 0; block < blocks; ++block)
      for (unsigned thread = 0; thread < threads; ++thread) run(arguments, block, threads, thread);
  }

 private:
  using Bits = std::uint64_t;
  std::string entry_;
  std::vector<std::string> parameters_;
  std::vector<std::vector<std::string>> code_;
  std::map<std::string, std::size_t> labels_;
  std::map<std::string, Bits> registers_;
  std::map<std::string, std::vector<double>> arrays_;

  Bits get(const std::string& name) const {
    if (name[0] == '%') {
      const auto found = registers_.find(name);
      if (found == registers_.end()) throw std::runtime_error("register " + name + " has no value");
      return found->second;
    }
    if (name.starts_with("0d")) return std::stoull(name.substr(2), nullptr, 16);
    return std::stoull(name);
  }
  double number(const std::string& name) const { return std::bit_cast<double>(get(name)); }
  void set(const std::string& name, Bits value) { registers_[name] = value; }
  void set_number(const std::string& name, double value) { set(name, std::bit_cast<Bits>(value)); }
  Bits address(const std::string& text) const {
    const auto plus = text.find('+');
    return get(text.substr(0, plus)) + (plus == std::string::npos ? 0 : std::stoull(text.substr(plus + 1)));
  }
  static bool starts(const std::string& s, const char* what) { return s.rfind(what, 0) == 0; }

  void run(const std::vector<Bits>& arguments, unsigned block, unsigned threads, unsigned thread) {
    registers_.clear();
    registers_["%ctaid.x"] = block, registers_["%ntid.x"] = threads, registers_["%tid.x"] = thread;
    for (std::size_t at = 0; at < code_.size(); ++at) {
      std::vector<std::string> w = code_[at];
      if (w[0][0] == '@') {
        const bool negated = w[0][1] == '!', holds = (get(w[0].substr(negated ? 2 : 1)) != 0) != negated;
        w.erase(w.begin());
        if (!holds) continue;
      }
      if (w[0] == "ret") return;
      if (w[0] == "bra") {
        at = labels_.at(w[1]) - 1;
        continue;
      }
      execute(w, arguments);
    }
  }

  void execute(const std::vector<std::string>& w, const std::vector<Bits>& arguments) {
    const std::string& op = w[0];
    if (starts(op, "ld.param")) {
      const auto which = std::find(parameters_.begin(), parameters_.end(), w[2]);
      if (which == parameters_.end()) throw std::runtime_error("parameter " + w[2]);
      return set(w[1], arguments[static_cast<std::size_t>(which - parameters_.begin())]);
    }
    if (starts(op, "ld.global")) {
      Bits value = 0;
      std::memcpy(&value, std::bit_cast<const void*>(address(w[2])), op == "ld.global.u32" ? 4 : 8);
      return set(w[1], value);
    }
    if (starts(op, "st.global")) {
      const Bits value = get(w[2]);
      std::memcpy(std::bit_cast<void*>(address(w[1])), &value, op == "st.global.u32" ? 4 : 8);
      return;
    }
    if (starts(op, "setp.")) return set(w[1], compare(op.substr(5), w[2], w[3]) ? 1 : 0);
    if (op == "fma.rn.f64") return set_number(w[1], std::fma(number(w[2]), number(w[3]), number(w[4])));
    if (op == "add.rn.f64") return set_number(w[1], number(w[2]) + number(w[3]));
    if (op == "sub.rn.f64") return set_number(w[1], number(w[2]) - number(w[3]));
    if (op == "mul.rn.f64") return set_number(w[1], number(w[2]) * number(w[3]));
    if (op == "div.rn.f64") return set_number(w[1], number(w[2]) / number(w[3]));
    if (op == "rcp.rn.f64") return set_number(w[1], 1.0 / number(w[2]));
    if (op == "sqrt.rn.f64") return set_number(w[1], std::sqrt(number(w[2])));
    if (op == "cvt.rmi.f64.f64") return set_number(w[1], std::floor(number(w[2])));
    if (op == "cvt.rn.f64.s64") return set_number(w[1], static_cast<double>(static_cast<std::int64_t>(get(w[2]))));
    if (op == "cvt.rn.f64.u32") return set_number(w[1], static_cast<double>(static_cast<std::uint32_t>(get(w[2]))));
    if (op == "cvt.u64.u32") return set(w[1], static_cast<std::uint32_t>(get(w[2])));
    if (op == "neg.f64") return set(w[1], get(w[2]) ^ 1ull << 63);
    if (op == "abs.f64") return set(w[1], get(w[2]) & ~(1ull << 63));
    // The sign of the first, the size of the second.
    if (op == "copysign.f64") return set_number(w[1], std::copysign(number(w[3]), number(w[2])));
    if (op == "selp.f64") return set(w[1], get(w[4]) != 0 ? get(w[2]) : get(w[3]));
    if (op == "mov.u64") return set(w[1], std::bit_cast<Bits>(arrays_.at(w[2]).data()));
    if (op == "min.u64") return set(w[1], std::min(get(w[2]), get(w[3])));
    if (op == "selp.b64") return set(w[1], get(w[4]) != 0 ? get(w[2]) : get(w[3]));
    if (op == "mov.f64" || op == "mov.b64" || op == "mov.u32" || op == "cvta.to.global.u64")
      return set(w[1], get(w[2]));
    if (op == "and.b64" || op == "and.pred") return set(w[1], get(w[2]) & get(w[3]));
    if (op == "or.pred") return set(w[1], get(w[2]) | get(w[3]));
    if (op == "not.pred") return set(w[1], get(w[2]) ^ 1);
    if (op == "xor.b64") return set(w[1], get(w[2]) ^ get(w[3]));
    if (op == "add.u64") return set(w[1], get(w[2]) + get(w[3]));
    if (op == "sub.u64") return set(w[1], get(w[2]) - get(w[3]));
    if (op == "add.u32") return set(w[1], static_cast<std::uint32_t>(get(w[2]) + get(w[3])));
    if (op == "sub.u32") return set(w[1], static_cast<std::uint32_t>(get(w[2]) - get(w[3])));
    if (op == "mul.lo.u64" || op == "mul.wide.u32") return set(w[1], get(w[2]) * get(w[3]));
    if (op == "shl.b64") return set(w[1], get(w[2]) << get(w[3]));
    if (op == "shr.s64") return set(w[1], static_cast<Bits>(static_cast<std::int64_t>(get(w[2])) >> get(w[3])));
    throw std::runtime_error("instruction " + op);
  }

  bool compare(const std::string& how, const std::string& left, const std::string& right) const {
    const std::string type = how.substr(how.find('.') + 1), test = how.substr(0, how.find('.'));
    if (type == "f64") {
      const double a = number(left), b = number(right);
      const bool unordered = std::isnan(a) || std::isnan(b);
      if (test == "lt") return a < b;
      if (test == "le") return a <= b;
      if (test == "eq") return a == b;
      if (test == "neu") return unordered || a != b;
      if (test == "gtu") return unordered || a > b;
      if (test == "leu") return unordered || a <= b;
    } else {
      const Bits a = get(left), b = get(right);
      if (test == "ge") return a >= b;
      if (test == "ne") return a != b;
      if (test == "lt" && type == "s64") return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
    }
    throw std::runtime_error("comparison " + how);
  }
};

}  // namespace mechanician
