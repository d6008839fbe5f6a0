// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_CONVERSION_ATENTOCOREAI_DEPARTURES_H
#define CORTEN_CONVERSION_ATENTOCOREAI_DEPARTURES_H

namespace corten {

/// Everything that Departures.def lists.
enum class Departure : unsigned {
#define DEPARTURE(identifier, operators, reason) identifier,
#include "corten/Conversion/AtenToCoreAI/Departures.def"
};

struct DepartureText {
  /// The operators that it is about, as torch calls them.
  const char *operators;
  const char *reason;
};

/// In the order of Departures.def.
inline constexpr DepartureText kDepartures[] = {
#define DEPARTURE(identifier, operators, reason) {operators, reason},
#include "corten/Conversion/AtenToCoreAI/Departures.def"
};

} // namespace corten

#endif // CORTEN_CONVERSION_ATENTOCOREAI_DEPARTURES_H
