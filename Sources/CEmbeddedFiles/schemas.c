#include "embedded_files.h"

static const unsigned char schema[] = {
#embed "../../schema.sql" suffix(, 0)
};

static const unsigned char app_schema[] = {
#embed "../AppStore/schema_app.sql" suffix(, 0)
};

static const unsigned char rules[] = {
#embed "../../config/rules.csv" suffix(, 0)
};

static const unsigned char links[] = {
#embed "../../config/links.csv" suffix(, 0)
};

struct embedded_file embedded_schema(void) {
  return (struct embedded_file){"schema.sql", schema};
}

struct embedded_file embedded_app_schema(void) {
  return (struct embedded_file){"schema_app.sql", app_schema};
}

struct embedded_file embedded_rules(void) {
  return (struct embedded_file){"rules.csv", rules};
}

struct embedded_file embedded_links(void) {
  return (struct embedded_file){"links.csv", links};
}
