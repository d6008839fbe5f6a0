// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Metal/Check.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace corten::metal;
using namespace llvm;

namespace {

/// A piece of the source. Pieces follow each other without gaps.
struct Token {
  enum class Kind { Space, Word, Number, Text, Directive, Sign };
  Kind kind = Kind::Space;
  StringRef text;
  unsigned line = 1;

  bool is(StringRef word) const { return text == word; }
};

/// Splits the source into tokens.
class Lexer {
public:
  explicit Lexer(StringRef source) : rest(source) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (!rest.empty()) {
      Token token = next();
      token.line = line;
      line += token.text.count('\n');
      if (token.text.contains('\n'))
        isLineStart = true;
      else if (token.kind != Token::Kind::Space)
        isLineStart = false;
      tokens.push_back(token);
    }
    return tokens;
  }

private:
  Token take(Token::Kind kind, size_t length) {
    Token token{kind, rest.take_front(length)};
    rest = rest.drop_front(token.text.size());
    return token;
  }

  Token next() {
    char c = rest.front();
    if (isSpace(c))
      return take(Token::Kind::Space,
                  rest.find_if_not([](char x) { return isSpace(x); }));
    if (rest.starts_with("//"))
      return take(Token::Kind::Space, rest.find('\n'));
    if (rest.starts_with("/*")) {
      size_t end = rest.find("*/", 2);
      return take(Token::Kind::Space, end == StringRef::npos ? end : end + 2);
    }
    if (c == '#' && isLineStart)
      return take(Token::Kind::Directive, directiveLength());
    if (isAlpha(c) || c == '_')
      return take(Token::Kind::Word, rest.find_if_not([](char x) {
        return isAlnum(x) || x == '_';
      }));
    if (isDigit(c) || (c == '.' && rest.size() > 1 && isDigit(rest[1])))
      return take(Token::Kind::Number, numberLength());
    if (c == '"' || c == '\'')
      return take(Token::Kind::Text, textLength(c));
    return take(Token::Kind::Sign, 1);
  }

  /// To the end of the line that no backslash continues.
  size_t directiveLength() const {
    size_t end = rest.find('\n');
    while (end != StringRef::npos && end > 0 && rest[end - 1] == '\\')
      end = rest.find('\n', end + 1);
    return end;
  }

  size_t numberLength() const {
    size_t i = 1;
    for (; i < rest.size(); ++i) {
      char c = rest[i];
      bool isExponentSign =
          (c == '+' || c == '-') && StringRef("eEpP").contains(rest[i - 1]);
      if (!isAlnum(c) && c != '.' && c != '_' && !isExponentSign)
        break;
    }
    return i;
  }

  size_t textLength(char quote) const {
    for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '\\')
        ++i;
      else if (rest[i] == quote)
        return i + 1;
    }
    return rest.size();
  }

  StringRef rest;
  unsigned line = 1;
  bool isLineStart = true;
};

class Rewriter {
public:
  Rewriter(StringRef source, StringRef part, unsigned &numShared)
      : part(part), numShared(numShared), tokens(Lexer(source).run()) {
    for (const Token &token : tokens)
      texts.push_back(token.text.str());
  }

  Expected<std::string> run();

private:
  using Range = std::pair<size_t, size_t>;

  Error refuse(const Token &token, const Twine &what) const {
    return createStringError(inconvertibleErrorCode(),
                             "cannot be checked: " + part + ", line " +
                                 Twine(token.line) + ": " + what);
  }
  bool isSpace(size_t i) const { return tokens[i].kind == Token::Kind::Space; }
  /// The next token that is no space, or the end.
  size_t skip(size_t i) const {
    while (i < tokens.size() && isSpace(i))
      ++i;
    return i;
  }
  /// Leaves nothing of [from, to) but its line breaks.
  void blank(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      texts[i] = std::string(tokens[i].text.count('\n'), '\n') +
                 (isSpace(i) ? " " : "");
  }
  /// The tokens of a range in one line, without comments.
  std::string plain(Range range) const;
  size_t matching(size_t open) const;

  /// The tokens without spaces and without words for address spaces, which
  /// mean nothing here; `constant` is `const`.
  std::string withoutSpaces(Range range) const;
  Error mergeOverload(size_t scope, size_t start, size_t open);
  Error rewriteDirective(size_t i);
  Expected<size_t> rewriteShared(size_t start, size_t at);
  Error declareShared(StringRef type, Range declarator, std::string &out);

  StringRef part;
  unsigned &numShared;
  std::vector<Token> tokens;
  std::vector<std::string> texts;
  /// Functions by scope and signature: the signature in full, and the body.
  std::map<std::pair<size_t, std::string>, std::pair<std::string, std::string>>
      functions;
};

} // namespace

/// 1.5h is half(1.5f), 2bf is bfloat(2).
static std::string rewriteNumber(StringRef number) {
  StringRef digits = number;
  StringRef type;
  if (digits.starts_with_insensitive("0x"))
    return number.str();
  if (digits.consume_back_insensitive("bf"))
    type = "bfloat";
  else if (digits.consume_back_insensitive("h"))
    type = "half";
  else
    return number.str();
  bool isWhole = digits.find_first_of(".eE") == StringRef::npos;
  return (type + "(" + digits + (isWhole ? ")" : "f)")).str();
}

/// What has no counterpart on a CPU.
static bool isUnsupported(StringRef word) {
  static const StringSet<> words = {
      "texture1d",
      "texture1d_array",
      "texture2d",
      "texture2d_array",
      "texture2d_ms",
      "texture3d",
      "texturecube",
      "texturecube_array",
      "texture_buffer",
      "depth2d",
      "depth2d_array",
      "depthcube",
      "sampler",
      "os_log",
      "os_log_default",
      "raytracing",
      "intersector",
      "intersection_query",
      "imageblock",
      "visible_function_table",
      "intersection_function_table",
      "command_buffer",
      "compute_command",
      "render_command",
      "function_constant",
      "convolution2d",
      "reduce_rows",
      "reduce_columns",
      "map_iterator",
      // Not Metal: the machine that compiles must not see it.
      "asm",
      "__asm",
      "__asm__",
      "__has_include",
      "__has_include_next",
      "__has_embed",
  };
  return words.contains(word);
}

std::string Rewriter::plain(Range range) const {
  std::string text;
  for (size_t i = range.first; i < range.second; ++i)
    text += isSpace(i) ? " " : texts[i];
  return StringRef(text).trim().str();
}

/// The bracket that closes the one at `open`, or the end.
size_t Rewriter::matching(size_t open) const {
  unsigned depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::Sign)
      continue;
    char c = tokens[i].text.front();
    if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if ((c == ')' || c == ']' || c == '}') && --depth == 0)
      return i;
  }
  return tokens.size();
}

std::string Rewriter::withoutSpaces(Range range) const {
  std::string text;
  bool isConst = false;
  for (size_t i = range.first; i < range.second; ++i) {
    StringRef word = tokens[i].text;
    if (isSpace(i) || word == "device" || word == "threadgroup" ||
        word == "thread")
      continue;
    if (word == "constant")
      word = "const";
    if (word == "const" && isConst)
      continue;
    isConst = word == "const";
    text += (word + " ").str();
  }
  return text;
}

/// Metal tells functions apart by the address spaces of their pointers. Here
/// they would be one: of two that do the same the first is kept.
Error Rewriter::mergeOverload(size_t scope, size_t start, size_t open) {
  size_t close = matching(open);
  if (close == tokens.size())
    return Error::success();
  std::string full = plain({start, open});
  std::string body = withoutSpaces({open, close});
  auto [known, isNew] =
      functions.try_emplace({scope, withoutSpaces({start, open})}, full, body);
  if (isNew || known->second.first == full)
    return Error::success();
  if (known->second.second != body)
    return refuse(tokens[start], "two functions differ in nothing but the "
                                 "address spaces of their parameters");
  blank(start, close + 1);
  return Error::success();
}

/// A function's body may begin after the token.
static bool endsSignature(const Token &token) {
  return token.is(")") || token.is("const") || token.is("device") ||
         token.is("threadgroup") || token.is("thread") ||
         token.is("constant") || token.is("noexcept");
}

Expected<std::string> Rewriter::run() {
  // Indices of the brackets that are open.
  SmallVector<size_t> brackets;
  auto inStatements = [&] {
    return brackets.empty() || tokens[brackets.back()].is("{");
  };
  size_t previous = 0;
  // The first token of the statement that the current one is in.
  size_t start = skip(0);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    if (isUnsupported(token.text))
      return refuse(token, "'" + token.text + "' is not supported");
    if (token.kind == Token::Kind::Directive) {
      if (Error error = rewriteDirective(i))
        return std::move(error);
      start = skip(i + 1);
    } else if (token.kind == Token::Kind::Number) {
      texts[i] = rewriteNumber(token.text);
    } else if (token.is("coherent") && skip(i + 1) < tokens.size() &&
               tokens[skip(i + 1)].is("(")) {
      size_t end = matching(skip(i + 1));
      blank(i, std::min(end + 1, tokens.size()));
      i = end;
    } else if (token.is("[") && i + 1 < tokens.size() &&
               tokens[i + 1].is("[")) {
      size_t end = matching(i);
      for (size_t j = i; j < end && j < tokens.size(); ++j)
        if (isUnsupported(tokens[j].text))
          return refuse(tokens[j], "'" + tokens[j].text + "' is not supported");
      blank(i, std::min(end + 1, tokens.size()));
      if (start == i)
        start = skip(std::min(end + 1, tokens.size()));
      i = end;
    } else if (token.is("threadgroup") && inStatements()) {
      Expected<size_t> last = rewriteShared(start, i);
      if (!last)
        return last.takeError();
      i = *last;
      if (i < tokens.size() && tokens[i].is(";"))
        start = skip(i + 1);
    } else if (token.kind == Token::Kind::Sign) {
      char c = token.text.front();
      if (c == '{' && inStatements() && endsSignature(tokens[previous])) {
        size_t scope = brackets.empty() ? tokens.size() : brackets.back();
        if (Error error = mergeOverload(scope, start, i))
          return std::move(error);
        if (texts[i].empty()) {
          i = matching(i);
          start = skip(i + 1);
          continue;
        }
      }
      if (c == '(' || c == '[' || c == '{')
        brackets.push_back(i);
      else if ((c == ')' || c == ']' || c == '}') && !brackets.empty())
        brackets.pop_back();
      if ((c == ';' && inStatements()) || c == '{' || c == '}')
        start = skip(i + 1);
    }
    if (token.kind != Token::Kind::Space)
      previous = i;
  }
  return join(texts, "");
}

/// Includes vanish: the headers are there. A macro that stands for a
/// declaration of threadgroup memory would become one of a thread.
Error Rewriter::rewriteDirective(size_t i) {
  StringRef text = tokens[i].text;
  StringRef name = text.drop_front().ltrim();
  if (name.starts_with("include") || name.starts_with("import")) {
    blank(i, i + 1);
    return Error::success();
  }
  if (name.starts_with("embed"))
    return refuse(tokens[i], "'#embed' is not supported");
  size_t at = text.find("threadgroup");
  if (name.starts_with("define") && at != StringRef::npos &&
      !StringRef("_").contains(text.substr(at + 11, 1)) &&
      text.substr(at).find_first_of("*&") == StringRef::npos)
    return refuse(tokens[i], "'threadgroup' in a macro");
  // Literals inside of macros.
  if (name.starts_with("define")) {
    std::string result;
    for (const Token &token : Lexer(text.drop_front()).run())
      result += token.kind == Token::Kind::Number ? rewriteNumber(token.text)
                                                  : token.text.str();
    texts[i] = "#" + result;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Threadgroup variables
//===----------------------------------------------------------------------===//

/// Rewrites the declaration that begins at `start` and has `threadgroup` at
/// `at`; returns its last token. What has a pointer or a reference declares
/// nothing that is shared and stays as it is.
Expected<size_t> Rewriter::rewriteShared(size_t start, size_t at) {
  size_t end = at;
  std::vector<Range> declarators;
  size_t from = start;
  unsigned angles = 0;
  for (; end < tokens.size(); ++end) {
    const Token &token = tokens[end];
    if (token.kind != Token::Kind::Sign)
      continue;
    char c = token.text.front();
    if (c == '<')
      ++angles;
    else if (c == '>' && angles)
      --angles;
    else if (angles == 0 && (c == '*' || c == '&'))
      return at;
    else if (c == '[')
      end = matching(end);
    else if (angles == 0 && c == ',') {
      declarators.emplace_back(from, end);
      from = end + 1;
    } else if (c == ';' || c == '{' || c == '(' || c == '=' || c == ')')
      break;
  }
  if (end >= tokens.size() || !tokens[end].is(";"))
    return refuse(tokens[at],
                  end < tokens.size() && tokens[end].is("=")
                      ? "a 'threadgroup' variable cannot have an initializer"
                      : "this use of 'threadgroup' is not understood");
  declarators.emplace_back(from, end);

  // The first declarator has the type in front of its name, which is the last
  // word before an extent.
  size_t name = declarators[0].second;
  for (size_t i = at + 1; i < declarators[0].second; ++i) {
    if (tokens[i].is("["))
      break;
    if (tokens[i].kind == Token::Kind::Word)
      name = i;
  }
  if (name == declarators[0].second)
    return refuse(tokens[at], "this use of 'threadgroup' is not understood");
  for (size_t i = start; i < name; ++i) {
    StringRef word = tokens[i].text;
    if (word == "threadgroup" || word == "static" || word == "volatile")
      blank(i, i + 1);
    if (word == "alignas" && skip(i + 1) < name) {
      size_t close = matching(skip(i + 1));
      blank(i, std::min(close + 1, name));
    }
    if (word == "using" || word == "typedef" || word == "template" ||
        word == "struct" || word == "return")
      return refuse(tokens[at], "this use of 'threadgroup' is not understood");
  }
  std::string type = plain({start, name});
  declarators[0].first = name;

  std::string out;
  for (Range declarator : declarators)
    if (Error error = declareShared(type, declarator, out))
      return std::move(error);
  blank(start, end + 1);
  // Where the declaration stood, so that messages about it have its line.
  texts[start] = out + texts[start];
  return end;
}

Error Rewriter::declareShared(StringRef type, Range declarator,
                              std::string &out) {
  size_t name = skip(declarator.first);
  if (name >= declarator.second || tokens[name].kind != Token::Kind::Word)
    return refuse(tokens[std::min(name, tokens.size() - 1)],
                  "this declaration of 'threadgroup' memory is not understood");
  std::string full = type.str();
  for (size_t i = skip(name + 1); i < declarator.second; i = skip(i + 1)) {
    if (!tokens[i].is("["))
      return refuse(tokens[i], "this declaration of 'threadgroup' memory is "
                               "not understood");
    size_t close = matching(i);
    // Parentheses, because a bare > would end the template argument.
    full += "[(" + plain({i + 1, close}) + ")]";
    i = close;
  }
  ++numShared;
  out += ("metal::corten_shared<" + full + "> " + tokens[name].text +
          " = metal::corten_share<" + full +
          ">(reinterpret_cast<const void "
          "*>(" +
          Twine(numShared) + "), \"" + tokens[name].text + "\");")
             .str();
  return Error::success();
}

Expected<std::string> corten::metal::rewriteMetal(StringRef source,
                                                  StringRef part,
                                                  unsigned &numShared) {
  return Rewriter(source, part, numShared).run();
}
