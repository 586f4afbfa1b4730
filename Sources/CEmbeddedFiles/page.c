#include "embedded_files.h"

// A file is three lines here; a test compares the table with the folder.
static const struct embedded_file files[] = {
  {"accounts.js", (const unsigned char[]){
#embed "../Page/Files/accounts.js" suffix(, 0)
  }},
  {"alert-form.js", (const unsigned char[]){
#embed "../Page/Files/alert-form.js" suffix(, 0)
  }},
  {"chart-draw.js", (const unsigned char[]){
#embed "../Page/Files/chart-draw.js" suffix(, 0)
  }},
  {"chart-input.js", (const unsigned char[]){
#embed "../Page/Files/chart-input.js" suffix(, 0)
  }},
  {"chart-layout.js", (const unsigned char[]){
#embed "../Page/Files/chart-layout.js" suffix(, 0)
  }},
  {"chart-panel.js", (const unsigned char[]){
#embed "../Page/Files/chart-panel.js" suffix(, 0)
  }},
  {"chart-periods.js", (const unsigned char[]){
#embed "../Page/Files/chart-periods.js" suffix(, 0)
  }},
  {"chart-series.js", (const unsigned char[]){
#embed "../Page/Files/chart-series.js" suffix(, 0)
  }},
  {"chart-view.js", (const unsigned char[]){
#embed "../Page/Files/chart-view.js" suffix(, 0)
  }},
  {"chart.js", (const unsigned char[]){
#embed "../Page/Files/chart.js" suffix(, 0)
  }},
  {"data-table.js", (const unsigned char[]){
#embed "../Page/Files/data-table.js" suffix(, 0)
  }},
  {"decimal.js", (const unsigned char[]){
#embed "../Page/Files/decimal.js" suffix(, 0)
  }},
  {"dialog.js", (const unsigned char[]){
#embed "../Page/Files/dialog.js" suffix(, 0)
  }},
  {"element.js", (const unsigned char[]){
#embed "../Page/Files/element.js" suffix(, 0)
  }},
  {"feed.js", (const unsigned char[]){
#embed "../Page/Files/feed.js" suffix(, 0)
  }},
  {"fields.js", (const unsigned char[]){
#embed "../Page/Files/fields.js" suffix(, 0)
  }},
  {"format.js", (const unsigned char[]){
#embed "../Page/Files/format.js" suffix(, 0)
  }},
  {"gateway.js", (const unsigned char[]){
#embed "../Page/Files/gateway.js" suffix(, 0)
  }},
  {"home-portfolio.js", (const unsigned char[]){
#embed "../Page/Files/home-portfolio.js" suffix(, 0)
  }},
  {"icon.svg", (const unsigned char[]){
#embed "../Page/Files/icon.svg" suffix(, 0)
  }},
  {"inbox.js", (const unsigned char[]){
#embed "../Page/Files/inbox.js" suffix(, 0)
  }},
  {"index.html", (const unsigned char[]){
#embed "../Page/Files/index.html" suffix(, 0)
  }},
  {"instrument-field.js", (const unsigned char[]){
#embed "../Page/Files/instrument-field.js" suffix(, 0)
  }},
  {"instrument-names.js", (const unsigned char[]){
#embed "../Page/Files/instrument-names.js" suffix(, 0)
  }},
  {"loading.js", (const unsigned char[]){
#embed "../Page/Files/loading.js" suffix(, 0)
  }},
  {"order-form.js", (const unsigned char[]){
#embed "../Page/Files/order-form.js" suffix(, 0)
  }},
  {"page.css", (const unsigned char[]){
#embed "../Page/Files/page.css" suffix(, 0)
  }},
  {"page.js", (const unsigned char[]){
#embed "../Page/Files/page.js" suffix(, 0)
  }},
  {"queue-form.js", (const unsigned char[]){
#embed "../Page/Files/queue-form.js" suffix(, 0)
  }},
  {"quote-parts.js", (const unsigned char[]){
#embed "../Page/Files/quote-parts.js" suffix(, 0)
  }},
  {"screen-account.js", (const unsigned char[]){
#embed "../Page/Files/screen-account.js" suffix(, 0)
  }},
  {"screen-alerts.js", (const unsigned char[]){
#embed "../Page/Files/screen-alerts.js" suffix(, 0)
  }},
  {"screen-detail.js", (const unsigned char[]){
#embed "../Page/Files/screen-detail.js" suffix(, 0)
  }},
  {"screen-health.js", (const unsigned char[]){
#embed "../Page/Files/screen-health.js" suffix(, 0)
  }},
  {"screen-home.js", (const unsigned char[]){
#embed "../Page/Files/screen-home.js" suffix(, 0)
  }},
  {"screen-orders.js", (const unsigned char[]){
#embed "../Page/Files/screen-orders.js" suffix(, 0)
  }},
  {"screen-portfolio.js", (const unsigned char[]){
#embed "../Page/Files/screen-portfolio.js" suffix(, 0)
  }},
  {"screen-queue.js", (const unsigned char[]){
#embed "../Page/Files/screen-queue.js" suffix(, 0)
  }},
  {"screen-search.js", (const unsigned char[]){
#embed "../Page/Files/screen-search.js" suffix(, 0)
  }},
  {"screen-settings.js", (const unsigned char[]){
#embed "../Page/Files/screen-settings.js" suffix(, 0)
  }},
  {"screen-watchlists.js", (const unsigned char[]){
#embed "../Page/Files/screen-watchlists.js" suffix(, 0)
  }},
  {"screens.css", (const unsigned char[]){
#embed "../Page/Files/screens.css" suffix(, 0)
  }},
  {"session.js", (const unsigned char[]){
#embed "../Page/Files/session.js" suffix(, 0)
  }},
  {"settings-eye.js", (const unsigned char[]){
#embed "../Page/Files/settings-eye.js" suffix(, 0)
  }},
  {"settings.js", (const unsigned char[]){
#embed "../Page/Files/settings.js" suffix(, 0)
  }},
  {"sign-in.js", (const unsigned char[]){
#embed "../Page/Files/sign-in.js" suffix(, 0)
  }},
  {"stock-table.js", (const unsigned char[]){
#embed "../Page/Files/stock-table.js" suffix(, 0)
  }},
  {"texts-trading.js", (const unsigned char[]){
#embed "../Page/Files/texts-trading.js" suffix(, 0)
  }},
  {"texts.js", (const unsigned char[]){
#embed "../Page/Files/texts.js" suffix(, 0)
  }},
  {"trading-screen.js", (const unsigned char[]){
#embed "../Page/Files/trading-screen.js" suffix(, 0)
  }},
  {"trading.css", (const unsigned char[]){
#embed "../Page/Files/trading.css" suffix(, 0)
  }},
  {"trading.js", (const unsigned char[]){
#embed "../Page/Files/trading.js" suffix(, 0)
  }},
  {"value-line.js", (const unsigned char[]){
#embed "../Page/Files/value-line.js" suffix(, 0)
  }},
  {"watchlists.js", (const unsigned char[]){
#embed "../Page/Files/watchlists.js" suffix(, 0)
  }},
  {"why-panel.js", (const unsigned char[]){
#embed "../Page/Files/why-panel.js" suffix(, 0)
  }},
};

size_t embedded_page_file_count(void) { return sizeof files / sizeof *files; }

struct embedded_file embedded_page_file(size_t index) { return files[index]; }
