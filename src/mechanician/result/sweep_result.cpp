#include "mechanician/result/sweep_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mechanician/base/csv.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

const std::vector<double> sweep_quantiles{0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0};

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_reasons = 1'000'000, most_reason_size = 240;

std::size_t find_quantity(const std::vector<SweepQuantity>& quantities, std::string_view name) {
  const auto found =
      std::find_if(quantities.begin(), quantities.end(), [&](const SweepQuantity& q) { return q.name == name; });
  return static_cast<std::size_t>(found - quantities.begin());
}

template <class T>
T value_at(const std::vector<char>& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

double quantile(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return none;
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = at - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

/// The names of columns. What a model calls as a column of every result, or as another of its own, is value(NAME): a reader goes by
/// names.
std::vector<std::string> csv_names(const std::vector<SweepQuantity>& quantities) {
  std::vector<std::string> taken{"reason"}, result;
  for (const SweepQuantity& q : quantities)
    if (q.names.empty()) taken.push_back(q.name);
  for (const SweepQuantity& q : quantities) {
    if (q.names.empty()) result.push_back(q.name);
    for (std::string name : q.names) {
      while (std::find(taken.begin(), taken.end(), name) != taken.end()) name = fmt::format("value({})", name);
      taken.push_back(name);
      result.push_back(std::move(name));
    }
  }
  return result;
}

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

SweepStatistics statistics_of(const std::string& name, std::vector<double>& values) {
  SweepStatistics s;
  s.name = name;
  s.count = static_cast<std::int64_t>(values.size());
  // Twice over the values: no digits are lost where the mean is large beside the deviation.
  double sum = 0.0, squares = 0.0;
  for (const double x : values) sum += x;
  s.mean = values.empty() ? none : sum / static_cast<double>(values.size());
  for (const double x : values) squares += (x - s.mean) * (x - s.mean);
  s.deviation = values.size() < 2 ? none : std::sqrt(squares / static_cast<double>(values.size() - 1));
  std::sort(values.begin(), values.end());
  for (const double p : sweep_quantiles) s.quantiles.push_back(quantile(values, p));
  return s;
}

}  // namespace

std::vector<SweepStatistics> calc_statistics(const SweepStore& store, const SweepSetup& setup) {
  const auto quantities = quantities_of(setup);
  const std::size_t kept = find_quantity(quantities, "outputs"), outcome = find_quantity(quantities, "outcome");
  const std::size_t columns = setup.kept_names.size();
  // Records are read once for as many columns as take some 128 MB.
  constexpr std::size_t most_values = std::size_t{1} << 24;
  const std::size_t at_once =
      std::max<std::size_t>(1, most_values / std::max<std::size_t>(1, static_cast<std::size_t>(setup.motions)));
  std::vector<SweepStatistics> result;
  std::vector<char> outcomes, numbers;
  for (std::size_t first = 0; first < columns; first += at_once) {
    std::vector<std::vector<double>> values(std::min(at_once, columns - first));
    for (const auto& record : store.records()) {
      store.read(record, outcome, outcomes);
      store.read(record, kept, numbers);
      for (std::size_t i = 0; i < static_cast<std::size_t>(record.count); ++i) {
        if (value_at<std::int64_t>(outcomes, i) == static_cast<std::int64_t>(Outcome::failed)) continue;
        for (std::size_t c = 0; c < values.size(); ++c)
          if (const double x = value_at<double>(numbers, i * columns + first + c); std::isfinite(x))
            values[c].push_back(x);
      }
    }
    for (std::size_t c = 0; c < values.size(); ++c)
      result.push_back(statistics_of(setup.kept_names[first + c], values[c]));
  }
  return result;
}

SweepCounts count_motions(const SweepStore& store, const SweepSetup& setup) {
  const auto quantities = quantities_of(setup);
  const std::size_t at_outcome = find_quantity(quantities, "outcome"), at_steps = find_quantity(quantities, "steps"),
                    at_violation = find_quantity(quantities, "violation");
  SweepCounts counts;
  std::vector<char> outcomes, steps, violations;
  for (const auto& record : store.records()) {
    store.read(record, at_outcome, outcomes), store.read(record, at_steps, steps),
        store.read(record, at_violation, violations);
    counts.motions += record.count;
    for (std::size_t i = 0; i < static_cast<std::size_t>(record.count); ++i) {
      const auto outcome = static_cast<Outcome>(value_at<std::int64_t>(outcomes, i));
      counts.suspect += outcome == Outcome::suspect;
      counts.stopped += outcome == Outcome::stopped;
      counts.failed += outcome == Outcome::failed;
      counts.steps += value_at<std::int64_t>(steps, i);
      if (outcome != Outcome::failed && value_at<double>(violations, i) > counts.violation)
        counts.violation = value_at<double>(violations, i);
    }
  }
  return counts;
}

std::vector<SweepReason> find_reasons(const SweepStore& store, std::size_t most) {
  std::vector<SweepReason> result;
  for (const auto& record : store.records()) {
    if (result.size() >= most) break;
    for (SweepReason& reason : store.reasons(record)) {
      if (result.size() >= most) break;
      if (reason.text.size() > most_reason_size) {
        // Not in the middle of a character.
        std::size_t end = most_reason_size;
        while (end > 0 && (static_cast<unsigned char>(reason.text[end]) & 0xC0u) == 0x80u) --end;
        reason.text.resize(end);
        reason.text += "…";
      }
      result.push_back(std::move(reason));
    }
  }
  return result;
}

namespace {

/// Samples of single motions. Those of one record after the other are read once for each record.
class SampleReader {
 public:
  SampleReader(const SweepStore& store, const SweepSetup& setup) : store_(store), names_(setup.sample_names.size()) {}

  std::vector<double> read(std::int64_t motion) {
    if (!(motion >= first_ && motion < first_ + count_)) {
      const auto& records = store_.records();
      const auto found = std::upper_bound(records.begin(), records.end(), motion,
                                          [](std::int64_t m, const SweepStore::Record& r) { return m < r.first; }) -
                         1;
      store_.read(*found, 0, bytes_);
      first_ = found->first, count_ = found->count;
    }
    std::vector<double> sample;
    for (std::size_t i = 0; i < names_; ++i)
      sample.push_back(value_at<double>(bytes_, static_cast<std::size_t>(motion - first_) * names_ + i));
    return sample;
  }

 private:
  const SweepStore& store_;
  std::size_t names_;
  std::int64_t first_ = 0, count_ = 0;
  std::vector<char> bytes_;
};

}  // namespace

std::string sample_text(const SweepStore& store, const SweepSetup& setup, std::int64_t motion) {
  const std::vector<double> sample = SampleReader(store, setup).read(motion);
  std::string text;
  for (std::size_t i = 0; i < sample.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", setup.sample_names[i], short_number(sample[i]));
  return text;
}

void check_complete(const SweepStore& store, const SweepSetup& setup) {
  std::int64_t at = 0;
  for (const auto& record : store.records()) {
    if (record.first != at)
      throw FileError(fmt::format("motion {} is there {}: the part files are damaged", std::min(at, record.first),
                                  record.first < at ? "twice" : "nowhere"));
    at += record.count;
  }
  if (at != setup.motions)
    throw FileError(fmt::format("{} of {} motions are there: the part files are damaged", at, setup.motions));
}

void write_sweep_csv(const SweepStore& store, const SweepSetup& setup,
                     const std::function<void(std::string_view)>& write) {
  const auto quantities = quantities_of(setup);
  std::string text;
  for (const std::string& name : csv_names(quantities)) text += csv_field(name) + ',';
  text += "reason\n";
  std::vector<std::vector<char>> values(quantities.size());
  for (const auto& record : store.records()) {
    for (std::size_t k = 0; k < quantities.size(); ++k) store.read(record, k, values[k]);
    const std::vector<SweepReason> reasons = store.reasons(record);
    auto reason = reasons.begin();
    for (std::size_t i = 0; i < static_cast<std::size_t>(record.count); ++i) {
      for (std::size_t k = 0; k < quantities.size(); ++k) {
        const SweepQuantity& q = quantities[k];
        for (std::size_t c = 0; c < q.columns; ++c) {
          if (q.name == "outcome")
            text += describe(static_cast<Outcome>(value_at<std::int64_t>(values[k], i)));
          else if (q.whole)
            text += fmt::format("{}", value_at<std::int64_t>(values[k], i * q.columns + c));
          else
            append_number(text, value_at<double>(values[k], i * q.columns + c));
          text += ',';
        }
      }
      if (reason != reasons.end() && reason->motion == record.first + static_cast<std::int64_t>(i))
        text += csv_quoted(on_one_line(reason++->text));
      text += '\n';
    }
    write(text);
    text.clear();
  }
  if (!text.empty()) write(text);
}

void write_sweep_csv(SweepStore& store, const SweepSetup& setup) {
  store.part().make_scratch();
  OpenFile file(store.part().scratch(), OpenFile::Mode::write);
  std::uint64_t end = 0;
  try {
    write_sweep_csv(store, setup, [&](std::string_view text) {
      file.write_at(end, text);
      end += text.size();
    });
    file.sync();
  } catch (const FileError&) {
    remove_quietly(file.path());
    throw;
  }
}

namespace {

/// The datasets of a result: those of the motions, one for each quantity, and behind them others with what they hold.
struct SweepDatasets {
  std::vector<Hdf5Dataset> all;
  std::vector<std::pair<std::size_t, std::string>> rest;

  void add(Hdf5Dataset dataset, std::string bytes) {
    rest.emplace_back(all.size(), std::move(bytes));
    all.push_back(std::move(dataset));
  }
  void add_texts(const std::string& path, const std::vector<std::string>& texts, const std::string& about) {
    std::size_t size = 1;
    for (const std::string& t : texts) size = std::max(size, t.size());
    std::string bytes;
    for (std::string t : texts) t.resize(size), bytes += t;
    add({.path = path, .type = Hdf5Type::text, .rows = texts.size(), .columns = size, .names = {}, .about = about},
        std::move(bytes));
  }
  void add_table(const std::string& path, const std::vector<double>& values, const std::vector<std::string>& columns,
                 const std::string& about) {
    add({.path = path,
         .rows = values.size() / columns.size(),
         .columns = columns.size(),
         .matrix = true,
         .names = columns,
         .about = about},
        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
  }
};

void add_reasons(const SweepStore& store, const SweepSetup& setup, SweepDatasets& datasets) {
  const auto reasons = find_reasons(store, most_reasons);
  if (reasons.empty()) return;
  std::vector<std::string> texts;
  std::string motions;
  std::vector<double> samples;
  SampleReader reader(store, setup);
  for (const SweepReason& r : reasons) {
    texts.push_back(r.text);
    motions.append(reinterpret_cast<const char*>(&r.motion), sizeof r.motion);
    for (const double x : reader.read(r.motion)) samples.push_back(x);
  }
  datasets.add({.path = "reasons/motion",
                .type = Hdf5Type::integer,
                .rows = reasons.size(),
                .names = {},
                .about = "rows that are suspect or failed"},
               motions);
  datasets.add_texts("reasons/reason", texts, "why");
  datasets.add_table("reasons/samples", samples, setup.sample_names, "what was varied there");
}

void add_statistics(const SweepStore& store, const SweepSetup& setup, SweepDatasets& datasets) {
  const auto statistics = calc_statistics(store, setup);
  if (statistics.empty()) return;
  std::vector<std::string> names;
  std::vector<double> values;
  for (const SweepStatistics& s : statistics) {
    names.push_back(s.name);
    values.insert(values.end(), {static_cast<double>(s.count), s.mean, s.deviation});
    values.insert(values.end(), s.quantiles.begin(), s.quantiles.end());
  }
  datasets.add_texts("statistics/names", names, "of the rows of values");
  datasets.add_table("statistics/values", values,
                     {"count", "mean", "deviation", "least", "5%", "25%", "50%", "75%", "95%", "largest"},
                     "of what was kept, over the motions that have not failed");
}

SweepDatasets plan_sweep(const SweepStore& store, const SweepSetup& setup) {
  SweepDatasets datasets;
  for (const SweepQuantity& q : quantities_of(setup))
    datasets.all.push_back({.path = q.name,
                            .type = q.whole ? Hdf5Type::integer : Hdf5Type::number,
                            .rows = static_cast<std::uint64_t>(setup.motions),
                            .columns = q.columns,
                            .matrix = !q.names.empty(),
                            .names = q.names,
                            .about = q.about});
  add_reasons(store, setup, datasets);
  add_statistics(store, setup, datasets);
  datasets.add_texts("model", {setup.model.text}, "the model file");
  datasets.add_texts("setup", {encode(setup)}, "everything that the sweep depends on");
  return datasets;
}

}  // namespace

void write_sweep_hdf5(SweepStore& store, const SweepSetup& setup, Ranks* ranks) {
  const auto quantities = quantities_of(setup);
  const bool first = !ranks || ranks->rank() == 0;
  std::vector<std::uint64_t> offsets(quantities.size()), all_offsets;
  std::string scratch;
  SweepDatasets datasets;
  if (first) {
    datasets = plan_sweep(store, setup);
    const SweepCounts counts = count_motions(store, setup);
    scratch = store.part().scratch();
    store.part().make_scratch();
    all_offsets = create_hdf5(scratch, datasets.all,
                              {{"kind", std::string("sweep")},
                               {"version", setup.version},
                               {"model_file", setup.model.file},
                               {"motions", setup.motions},
                               {"failed", counts.failed},
                               {"suspect", counts.suspect},
                               {"stopped", counts.stopped},
                               {"steps", counts.steps},
                               {"largest_constraint_violation", counts.violation},
                               {"device", setup.computed_on}});
    std::copy_n(all_offsets.begin(), offsets.size(), offsets.begin());
  }
  if (ranks) {
    scratch = ranks->broadcast(scratch);
    ranks->broadcast(offsets.data(), offsets.size() * sizeof(std::uint64_t));
  }
  OpenFile file(scratch, OpenFile::Mode::write);
  std::vector<char> bytes;
  for (const auto& record : store.records()) {
    if (ranks && !store.is_mine(record, ranks->size())) continue;
    for (std::size_t k = 0; k < quantities.size(); ++k) {
      store.read(record, k, bytes);
      file.write_at(offsets[k] + 8 * quantities[k].columns * static_cast<std::uint64_t>(record.first),
                    {bytes.data(), bytes.size()});
    }
  }
  if (!first) file.sync();
  if (ranks) ranks->barrier();
  if (!first) return;
  for (const auto& [which, what] : datasets.rest) file.write_at(all_offsets[which], what);
  seal_hdf5(file, {});
  file.sync();
}

}  // namespace mechanician
