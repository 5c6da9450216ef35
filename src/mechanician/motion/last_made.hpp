#pragma once

/// What was made of the last systems, and of a key beside. Motions that begin again, from another start, to another tolerance or another end, find it.
///
/// Systems that share their equations are one but for the parameters: what is made must depend on the equations and the key alone, so that a
/// motion has the same bits whether it finds it or makes it.

#include <iterator>
#include <list>
#include <mutex>
#include <utility>

#include "mechanician/instant/system.hpp"

namespace mechanician {

template <class Key, class Made>
class LastMade {
 public:
  template <class Make>
  Made of(const System& system, Key key, Make&& make) {
    {
      const std::lock_guard lock(lock_);
      for (auto i = kept_.begin(); i != kept_.end(); ++i) {
        // Those of an entry are alive, so no others have their place.
        if (&i->system.equations() != &system.equations() || !(i->key == key)) continue;
        kept_.splice(kept_.begin(), kept_, i);
        return i->made;
      }
    }
    std::list<Entry> entry;
    entry.push_back({system, std::move(key), make()});
    const Made made = entry.front().made;
    std::list<Entry> oldest;  // ends outside of the lock
    const std::lock_guard lock(lock_);
    kept_.splice(kept_.begin(), entry);
    if (kept_.size() > most_kept) oldest.splice(oldest.begin(), kept_, std::prev(kept_.end()));
    return made;
  }

  /// Of the process. It is never destroyed: threads may outlive the main one.
  static LastMade& all() {
    static LastMade* const kept = new LastMade;
    return *kept;
  }

 private:
  static constexpr std::size_t most_kept = 8;
  struct Entry {
    System system;
    Key key;
    Made made;
  };
  std::mutex lock_;
  std::list<Entry> kept_;  ///< the last one first
};

}  // namespace mechanician
