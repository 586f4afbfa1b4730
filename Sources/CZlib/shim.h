#pragma once
#include <zlib.h>

// zlib initializes by macros, which Swift does not import.
static inline int czlib_gzip_begin(z_stream *stream) {
  return deflateInit2(
      stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
}
