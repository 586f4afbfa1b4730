/// The page that the gateway serves: files of this folder, carried by the program. Their path names
/// what they all contain, so that browsers keep them for good and never mix two versions.

import Market

package struct PageFile: Sendable {
  package let contentType: String
  package let bytes: [UInt8]
}

package enum Page {
  /// In front of the name of a file.
  package static let folder = "/page/\(version)/"

  /// What is served at `/`: its references lead to `folder`.
  package static let start = PageFile(
    contentType: contentType(of: startName),
    bytes: Array(
      names.reduce(String(decoding: PackageResources.index_html, as: UTF8.self)) { text, name in
        text.replacing("=\"\(name)\"", with: "=\"\(folder)\(name)\"")
      }.utf8))

  package static let files: [String: PageFile] = contents.reduce(into: [:]) { files, entry in
    files[entry.key] = PageFile(contentType: contentType(of: entry.key), bytes: entry.value)
  }

  static let startName = "index.html"
  private static let names = contents.keys.sorted()

  package static let version: String = {
    var hash = StableHash()
    for name in names {
      hash.combine(name)
      hash.combine(String(decoding: contents[name] ?? [], as: UTF8.self))
    }
    return String(hash.value, radix: 36)
  }()

  private static func contentType(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "text/html; charset=utf-8"
    }
  }

  private static let contents: [String: [UInt8]] = [
    "accounts.js": PackageResources.accounts_js,
    "alert-form.js": PackageResources.alert_form_js,
    "chart-draw.js": PackageResources.chart_draw_js,
    "chart-input.js": PackageResources.chart_input_js,
    "chart-layout.js": PackageResources.chart_layout_js,
    "chart-panel.js": PackageResources.chart_panel_js,
    "chart-periods.js": PackageResources.chart_periods_js,
    "chart-series.js": PackageResources.chart_series_js,
    "chart-view.js": PackageResources.chart_view_js,
    "chart.js": PackageResources.chart_js,
    "data-table.js": PackageResources.data_table_js,
    "decimal.js": PackageResources.decimal_js,
    "dialog.js": PackageResources.dialog_js,
    "element.js": PackageResources.element_js,
    "feed.js": PackageResources.feed_js,
    "fields.js": PackageResources.fields_js,
    "format.js": PackageResources.format_js,
    "gateway.js": PackageResources.gateway_js,
    "home-portfolio.js": PackageResources.home_portfolio_js,
    "icon.svg": PackageResources.icon_svg,
    "inbox.js": PackageResources.inbox_js,
    "instrument-field.js": PackageResources.instrument_field_js,
    "instrument-names.js": PackageResources.instrument_names_js,
    "loading.js": PackageResources.loading_js,
    "order-form.js": PackageResources.order_form_js,
    "page.css": PackageResources.page_css,
    "page.js": PackageResources.page_js,
    "queue-form.js": PackageResources.queue_form_js,
    "quote-parts.js": PackageResources.quote_parts_js,
    "screen-account.js": PackageResources.screen_account_js,
    "screen-alerts.js": PackageResources.screen_alerts_js,
    "screen-detail.js": PackageResources.screen_detail_js,
    "screen-health.js": PackageResources.screen_health_js,
    "screen-home.js": PackageResources.screen_home_js,
    "screen-orders.js": PackageResources.screen_orders_js,
    "screen-portfolio.js": PackageResources.screen_portfolio_js,
    "screen-queue.js": PackageResources.screen_queue_js,
    "screen-search.js": PackageResources.screen_search_js,
    "screen-settings.js": PackageResources.screen_settings_js,
    "screen-watchlists.js": PackageResources.screen_watchlists_js,
    "screens.css": PackageResources.screens_css,
    "session.js": PackageResources.session_js,
    "settings-eye.js": PackageResources.settings_eye_js,
    "settings.js": PackageResources.settings_js,
    "sign-in.js": PackageResources.sign_in_js,
    "stock-table.js": PackageResources.stock_table_js,
    "texts-trading.js": PackageResources.texts_trading_js,
    "texts.js": PackageResources.texts_js,
    "trading-screen.js": PackageResources.trading_screen_js,
    "trading.css": PackageResources.trading_css,
    "trading.js": PackageResources.trading_js,
    "value-line.js": PackageResources.value_line_js,
    "watchlists.js": PackageResources.watchlists_js,
    "why-panel.js": PackageResources.why_panel_js,
  ]
}
