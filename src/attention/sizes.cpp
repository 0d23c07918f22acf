// Reads the shapes of query, key and value.
#include <fmt/format.h>

#include "attention/prepare.hpp"
#include "fovea/error.hpp"

namespace fovea::attention {
namespace {

[[noreturn]] void misfit(const char* name, const Shape& shape, const std::string& expected) {
  throw ShapeError(fmt::format("attend: {} {}: expected {}", name, shape.text(), expected));
}

}  // namespace

Sizes read_sizes(const Shape& query, const Shape& key, const Shape& value, const AttendOptions& how) {
  Sizes s;
  if (how.heads < 0 || how.kv_heads < 0) throw UsageError("attend: heads and kv_heads cannot be negative");
  if (how.kv_heads > 0 && how.heads == 0) throw UsageError("attend: kv_heads is for packed heads, give heads too");
  const bool packed = how.heads > 0;
  if (packed) {
    s.packed_heads = how.heads;
    s.packed_kv_heads = how.kv_heads > 0 ? how.kv_heads : how.heads;
    if (s.packed_heads % s.packed_kv_heads != 0) {
      throw UsageError(fmt::format("attend: kv_heads {} does not divide heads {}", how.kv_heads, how.heads));
    }
    if (query.rank() != 3 && query.rank() != 2) misfit("query", query, "[batch,queries,heads*width], heads are packed");
    if (query[-1] % s.packed_heads != 0) misfit("query", query, fmt::format("a width that {} heads share", how.heads));
  } else if (query.rank() < 2 || query.rank() > 4) {
    misfit("query", query, "[batch,queries,width] or [batch,heads,queries,width]");
  }
  s.queries = query[-2];
  s.query_dim = query[-1] / s.packed_heads;
  s.heads = packed ? s.packed_heads : query.rank() == 4 ? query[1] : 1;
  if (key.rank() != 3 && key.rank() != 4) {
    misfit("key", key,
           packed ? "[batch,keys,kv_heads*width], heads are packed, or [batch,heads,keys,width]"
                  : "[batch,keys,width] or [batch,heads,keys,width]");
  }
  if (key.rank() == 4) s.packed_kv_heads = 1;  // its heads have an axis of their own
  s.batch = query.rank() == 2 ? key[0] : query[0];
  if (key[0] != s.batch) misfit("key", key, fmt::format("{} sequences as in query {}", s.batch, query.text()));
  s.kv_heads = key.rank() == 4 ? key[1] : s.packed_kv_heads;
  if (s.kv_heads < 1 || s.heads % s.kv_heads != 0) {
    misfit("key", key, fmt::format("a number of heads that divides the {} of query {}", s.heads, query.text()));
  }
  if (key[-1] % s.packed_kv_heads != 0) {
    misfit("key", key, fmt::format("a width that {} heads share", s.packed_kv_heads));
  }
  s.keys = key[-2];
  s.key_dim = key[-1] / s.packed_kv_heads;
  Shape expected = key;
  if (value.rank() == key.rank()) expected.set(-1, value[-1]);
  if (!(value == expected)) {
    misfit("value", value, fmt::format("{} with any last axis, as key", key.text()));
  }
  if (value[-1] % s.packed_kv_heads != 0) {
    misfit("value", value, fmt::format("a width that {} heads share", s.packed_kv_heads));
  }
  s.value_dim = value[-1] / s.packed_kv_heads;
  return s;
}

}  // namespace fovea::attention
