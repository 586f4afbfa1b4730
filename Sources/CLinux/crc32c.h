// CRC-32C (Castagnoli), the checksum of the journal, by the CPU's own instruction where it has one
// (SSE 4.2, ARMv8 CRC) and by a bitwise loop where it does not. Header only: a system library target
// compiles no C file.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

// Reflected polynomial 0x1EDC6F41 (RFC 3720, appendix B.4).
static inline uint32_t candled_crc32c_portable(
    uint32_t state, const unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    state ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (0x82F63B78u & (0u - (state & 1u)));
  }
  return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static inline uint32_t candled_crc32c_instruction(
    uint32_t state, const unsigned char *bytes, size_t count) {
  uint64_t wide = state;
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  state = (uint32_t)wide;
  for (; count > 0; bytes++, count--) state = __builtin_ia32_crc32qi(state, *bytes);
  return state;
}
#elif defined(__aarch64__)
// HWCAP_CRC32 of the kernel's asm/hwcap.h.
#define CANDLED_HWCAP_CRC32 (1ul << 7)

__attribute__((target("crc"))) static inline uint32_t candled_crc32c_instruction(
    uint32_t state, const unsigned char *bytes, size_t count) {
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    state = __builtin_arm_crc32cd(state, word);
  }
  for (; count > 0; bytes++, count--) state = __builtin_arm_crc32cb(state, *bytes);
  return state;
}
#endif

// `seed` is 0 or the checksum of the bytes before these.
static inline uint32_t candled_crc32c(uint32_t seed, const void *bytes, size_t count) {
  const unsigned char *start = (const unsigned char *)bytes;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~candled_crc32c_instruction(~seed, start, count);
#elif defined(__aarch64__)
  if (getauxval(AT_HWCAP) & CANDLED_HWCAP_CRC32) {
    return ~candled_crc32c_instruction(~seed, start, count);
  }
#endif
  return ~candled_crc32c_portable(~seed, start, count);
}
