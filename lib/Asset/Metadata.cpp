// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Asset/Metadata.h"
#include "corten/Support/Limits.h"
#include "corten/Version.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>

using namespace corten;
using llvm::StringRef;

template <typename... Args>
static llvm::Error wrong(const char *format, const Args &...args) {
  return llvm::createStringError("metadata.json: " +
                                 llvm::formatv(format, args...).str());
}

/// Whether brackets outside of strings are nested deeper than a parser may go.
static bool isTooDeep(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestNesting)
        return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

/// `YYYYMMDDTHHMMSSZ`, or nothing if it is not a moment.
static std::optional<int64_t> parseDate(StringRef text) {
  using namespace std::chrono;
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z')
    return std::nullopt;
  unsigned part[6];
  constexpr unsigned kFirst[] = {0, 4, 6, 9, 11, 13};
  for (unsigned i = 0; i < 6; ++i) {
    StringRef digits = text.substr(kFirst[i], i == 0 ? 4 : 2);
    if (!llvm::all_of(digits, llvm::isDigit) ||
        digits.getAsInteger(10, part[i]))
      return std::nullopt;
  }
  year_month_day day{year(static_cast<int>(part[0])), month(part[1]),
                     std::chrono::day(part[2])};
  if (!day.ok() || part[3] > 23 || part[4] > 59 || part[5] > 60)
    return std::nullopt;
  return seconds(sys_days(day).time_since_epoch()).count() +
         part[3] * int64_t(3600) + part[4] * int64_t(60) + part[5];
}

static std::string formatDate(int64_t date) {
  using namespace std::chrono;
  sys_seconds moment{seconds(date)};
  sys_days midnight = floor<days>(moment);
  year_month_day day(midnight);
  hh_mm_ss time(moment - midnight);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(
      "%04d%02u%02uT%02d%02d%02dZ", static_cast<int>(day.year()),
      static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()),
      static_cast<int>(time.hours().count()),
      static_cast<int>(time.minutes().count()),
      static_cast<int>(time.seconds().count()));
  return text;
}

/// True if a number in the text is too large for one: it was read as infinite,
/// which JSON cannot say.
static bool hasInfinity(const llvm::json::Value &value) {
  if (const llvm::json::Array *array = value.getAsArray())
    return llvm::any_of(*array, hasInfinity);
  if (const llvm::json::Object *object = value.getAsObject())
    return llvm::any_of(
        *object, [](const auto &member) { return hasInfinity(member.second); });
  std::optional<double> number = value.getAsNumber();
  return number && !std::isfinite(*number);
}

static llvm::Expected<llvm::json::Object> parseObject(StringRef text) {
  if (isTooDeep(text))
    return wrong("nested more than {0} deep", kDeepestNesting);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return wrong("not JSON: {0}", llvm::toString(value.takeError()));
  if (!value->getAsObject())
    return wrong("not a JSON object");
  if (hasInfinity(*value))
    return wrong("a number is too large");
  return std::move(*value->getAsObject());
}

llvm::Error corten::setCreatorDefined(StringRef text, AssetMetadata &metadata) {
  llvm::Expected<llvm::json::Object> object = parseObject(text);
  if (!object)
    return object.takeError();
  metadata.creatorDefined = std::move(*object);
  return llvm::Error::success();
}

llvm::Expected<AssetMetadata> corten::parseMetadata(StringRef text) {
  llvm::Expected<llvm::json::Object> object = parseObject(text);
  if (!object)
    return object.takeError();
  auto take = [&](StringRef key) {
    return object->getString(key).value_or("").str();
  };
  AssetMetadata result;
  std::optional<StringRef> version = object->getString("assetVersion");
  if (!version)
    return wrong("the key assetVersion is missing");
  StringRef minor = *version;
  unsigned number = 0;
  if (!minor.consume_front("2.") || minor.getAsInteger(10, number))
    return wrong("asset version \"{0}\" is not supported, only 2.x is",
                 *version);
  result.assetVersion = version->str();
  result.author = take("author");
  result.license = take("license");
  result.description = take("description");
  result.producer = take("producer");
  result.creationDate = parseDate(take("creationDate"));
  if (llvm::json::Object *own = object->getObject("creatorDefinedMetadata"))
    result.creatorDefined = std::move(*own);
  return result;
}

/// When a file is made.
static int64_t buildDate() {
  const char *fixed = std::getenv("SOURCE_DATE_EPOCH");
  int64_t seconds = 0;
  if (fixed && !StringRef(fixed).getAsInteger(10, seconds))
    return seconds;
  return std::time(nullptr);
}

void corten::completeMetadata(AssetMetadata &metadata) {
  if (metadata.assetVersion.empty())
    metadata.assetVersion = AssetMetadata().assetVersion;
  if (metadata.producer.empty())
    metadata.producer = "corten " CORTEN_VERSION_STRING;
  if (!metadata.creationDate)
    metadata.creationDate = buildDate();
}

std::string corten::formatMetadata(const AssetMetadata &metadata) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    auto attribute = [&](StringRef key, StringRef value) {
      if (!value.empty())
        json.attribute(key, llvm::json::fixUTF8(value));
    };
    attribute("assetVersion", metadata.assetVersion);
    attribute("author", metadata.author);
    if (metadata.creationDate)
      json.attribute("creationDate", formatDate(*metadata.creationDate));
    // Sorted by key, whatever order they were set in.
    if (!metadata.creatorDefined.empty())
      json.attribute(
          "creatorDefinedMetadata",
          llvm::json::Value(llvm::json::Object(metadata.creatorDefined)));
    attribute("description", metadata.description);
    attribute("license", metadata.license);
    attribute("producer", metadata.producer);
  });
  text += '\n';
  return text;
}
