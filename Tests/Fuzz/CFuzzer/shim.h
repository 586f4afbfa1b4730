// The one entry of libFuzzer that leaves `main` to its caller (compiler-rt's FuzzerInterface).
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
