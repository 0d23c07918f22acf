// The two encodings of HTML forms.
#include "server/http/fields.hpp"

namespace fovea::server {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The value of `name` in a header such as `form-data; name="q"; filename="x"`, or empty.
std::string_view parameter(std::string_view header, std::string_view name) {
  std::size_t at = 0;
  while ((at = header.find(name, at)) != std::string_view::npos) {
    const bool starts = at > 0 && (header[at - 1] == ' ' || header[at - 1] == ';');
    at += name.size();
    if (!starts || at >= header.size() || header[at] != '=') continue;
    ++at;
    if (at < header.size() && header[at] == '"') {
      const std::size_t end = header.find('"', at + 1);
      return end == std::string_view::npos ? std::string_view() : header.substr(at + 1, end - at - 1);
    }
    return header.substr(at, header.find_first_of("; \r\n", at) - at);
  }
  return {};
}

Refusal too_many() {
  return {400, "Invalid request: it has too many fields"};
}

}  // namespace

std::string unescape(std::string_view text, bool plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += plus && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_form(std::string_view body) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!body.empty()) {
    const std::string_view pair = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(body.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (out.size() == kMostFields) throw too_many();
    out.emplace_back(unescape(pair.substr(0, equals), true),
                     equals == std::string_view::npos ? std::string() : unescape(pair.substr(equals + 1), true));
  }
  return out;
}

// RFC 7578: parts between lines "--BOUNDARY", each with headers, an empty line and its value.
std::vector<std::pair<std::string, std::string>> parse_multipart(std::string_view body, std::string_view content_type) {
  const Refusal broken(400, "Invalid request: the form cannot be read");
  const std::string_view boundary = parameter(content_type, "boundary");
  if (boundary.empty()) throw broken;
  const std::string delimiter = "\r\n--" + std::string(boundary);
  std::vector<std::pair<std::string, std::string>> out;
  if (!body.starts_with(std::string_view(delimiter).substr(2))) {
    const std::size_t first = body.find(delimiter);  // bytes before the first part are ignored
    if (first == std::string_view::npos) throw broken;
    body.remove_prefix(first + 2);
  }
  body.remove_prefix(delimiter.size() - 2);
  while (!body.starts_with("--")) {
    if (!body.starts_with("\r\n")) throw broken;
    const std::size_t head_end = body.find("\r\n\r\n");
    if (head_end == std::string_view::npos) throw broken;
    const std::string_view head = body.substr(2, head_end > 2 ? head_end - 2 : 0);
    body.remove_prefix(head_end + 4);
    const std::size_t end = body.find(delimiter);
    if (end == std::string_view::npos) throw broken;
    const std::string_view name = parameter(head, "name");
    if (out.size() == kMostFields) throw too_many();
    if (!name.empty()) out.emplace_back(std::string(name), std::string(body.substr(0, end)));
    body.remove_prefix(end + delimiter.size());
  }
  return out;
}

}  // namespace fovea::server
