// Any bytes as a request to the server (the first byte chooses which part of it): parsed the same whether they come at
// once or in pieces, or refused; never anything else.
#include <cstdlib>
#include <string>

#include "server/api/texts/html.hpp"
#include "server/http/fields.hpp"
#include "server/http/parser.hpp"

namespace {

namespace server = fovea::server;

struct Parsed {
  std::string text;
  bool operator==(const Parsed&) const = default;
};

Parsed parse(std::string_view bytes, std::size_t piece) {
  server::RequestParser parser;
  std::string body;
  using Step = server::RequestParser::Step;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    std::string_view in = bytes.substr(at, piece);
    for (;;) {
      const Step step = parser.feed(in);
      if (step == Step::more) break;
      if (step == Step::body) body += parser.piece();
      if (step == Step::broken) return {std::to_string(parser.status())};
      if (step == Step::done) return {parser.method() + " " + parser.path() + "?" + parser.query() + "\n" + body};
    }
  }
  return {"more"};
}

void read_forms(std::string_view bytes) {
  try {
    (void)server::parse_form(bytes);
  } catch (const server::Refusal&) {
  }
  const std::size_t cut = std::min(bytes.find('\n'), bytes.size());
  try {
    (void)server::parse_multipart(bytes.substr(cut), bytes.substr(0, cut));
  } catch (const server::Refusal&) {
  }
}

void read_html(std::string_view bytes) {
  std::string all;
  for (const server::HtmlPart& part : server::html_parts(bytes)) all += part.bytes;
  if (all != bytes) std::abort();
  (void)server::html_unescape(bytes);
  if (server::html_escape(bytes).size() < bytes.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 3) {
    case 0:
      if (parse(bytes, bytes.size() + 1) != parse(bytes, 1)) std::abort();
      break;
    case 1:
      read_forms(bytes);
      break;
    default:
      read_html(bytes);
      break;
  }
  return 0;
}
