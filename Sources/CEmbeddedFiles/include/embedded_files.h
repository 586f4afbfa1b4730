#ifndef EMBEDDED_FILES_H
#define EMBEDDED_FILES_H

#include <stddef.h>

/// A text file of the repository that the programs carry. Its bytes live as long as the program
/// and end with a NUL that does not belong to the file.
struct embedded_file {
  const char *_Nonnull name;
  const unsigned char *_Nonnull text;
};

struct embedded_file embedded_schema(void);
struct embedded_file embedded_app_schema(void);
struct embedded_file embedded_rules(void);
struct embedded_file embedded_links(void);

/// What the gateway serves to browsers.
size_t embedded_page_file_count(void);
struct embedded_file embedded_page_file(size_t index);

#endif
