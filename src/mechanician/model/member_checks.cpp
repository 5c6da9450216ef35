// Do the members exist that a text mentions, for all values of the indices around them? See names.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mechanician/model/index_values.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

bool NameTable::check_indices() {
  if (!parameter_value) return true;  // once they are known
  IndexWalk walk(model_, *domain_);
  if (walk.box()) return true;
  try {
    return walk.each({}, [](std::span<const double>) { return true; });
  } catch (const ModelError& e) {
    report(e.problems().front());
    return false;
  }
}

bool NameTable::check_members() {
  std::vector<Mention> mentions = std::exchange(mentions_, {});
  mentioned_.clear();
  if (!parameter_value) return true;  // once sizes are known
  bool good = true;
  for (std::size_t first = 0; first < mentions.size();) {
    // Those with the same indices around them, as far as it takes a walk to know.
    const auto domain = mentions[first].domain;
    IndexWalk walk(model_, *domain);
    const auto box = walk.box();
    const auto rest = static_cast<std::size_t>(
        std::stable_partition(mentions.begin() + static_cast<std::ptrdiff_t>(first), mentions.end(),
                              [&](const Mention& m) { return m.domain == domain; }) -
        mentions.begin());
    bool nothing = false;  // no member has these indices
    for (std::size_t k = 0; box && k < box->low.size(); ++k) nothing |= box->low[k] > box->high[k];
    if (nothing) {
      first = rest;
      continue;
    }
    struct Doubtful {
      const Mention* mention;
      IndexValues values;
    };
    std::vector<Doubtful> doubtful;
    for (; first < rest; ++first) {
      const Mention& m = mentions[first];
      std::vector<Expr> all = m.indices;
      all.insert(all.end(), m.whole.begin(), m.whole.end());
      all.insert(all.end(), m.least_zero.begin(), m.least_zero.end());
      IndexValues values(model_, all, walk.symbols());
      bool sure = box.has_value();
      for (std::size_t k = 0; k < all.size() && sure; ++k) {
        const auto range = values.range(k, *box);
        sure = range && (k >= m.bounds.size() || (range->first >= static_cast<double>(m.bounds[k].from) &&
                                                  range->second <= static_cast<double>(m.bounds[k].to)));
        if (sure && k >= m.indices.size() + m.whole.size()) sure = range->first >= 0.0;
      }
      if (!sure) doubtful.push_back({&m, std::move(values)});
    }
    if (doubtful.empty()) continue;
    try {
      good &= walk.each({}, [&](std::span<const double> at) {
        bool fine = true;
        for (Doubtful& d : doubtful) {
          const std::span<const double> found = d.values(at);
          const std::size_t n = d.mention->indices.size(), m = n + d.mention->whole.size();
          bool there = d.mention->bounds.empty() || number_of_member(d.mention->bounds, found) >= 0;
          for (std::size_t k = 0; k < found.size(); ++k)
            there &= k < m ? found[k] == std::round(found[k]) : found[k] >= 0.0;
          if (!there) explain_member(*d.mention, found.first(n), at), fine = false;
        }
        return fine;
      });
    } catch (const ModelError& e) {
      report(e.problems().front());
      good = false;
    }
  }
  return good;
}

void NameTable::explain_member(const Mention& m, std::span<const double> found, std::span<const double> at) {
  const Place place = place_of(m.offset, m.length);
  const std::string where = index_text(*m.domain, at), name = mechanician::quoted(m.name);
  for (const double x : found)
    if (x != std::round(x)) return report({place, fmt::format("an index of {}: {}{}", name, not_whole(x), where), {}});
  if (!m.key.empty())
    return report({place, fmt::format("{} {}", mechanician::quoted(member_text(m.name, found)), m.key),
                   fmt::format("it is {}[{}]", m.name, text_of(m.bounds))});
  for (std::size_t k = 0; k < found.size(); ++k)
    if (!(found[k] >= static_cast<double>(m.bounds[k].from) && found[k] <= static_cast<double>(m.bounds[k].to)))
      return report({place, fmt::format("{} has no member {}{}", name, static_cast<long>(found[k]), where),
                     fmt::format("its bounds are {}..{}", m.bounds[k].from, m.bounds[k].to)});
  report({place, fmt::format("there is no {}{}", mechanician::quoted(member_text(m.name, found)), where), {}});
}

}  // namespace mechanician
