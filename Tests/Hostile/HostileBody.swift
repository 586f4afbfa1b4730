import Glibc

/// Bodies to be damaged: our own fixtures, each with the decoder it is meant for.
package struct HostileBody: Sendable {
  package let name: String
  package let probe: Probe
  package let bytes: [UInt8]

  package struct Missing: Error {
    package let name: String
  }

  private static let bars =
    "bars iex 1m 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z OAKX,PINE.B"
  private static let days =
    "bars iex 1d 2026-09-01T04:00:00Z 2026-09-30T04:00:00Z OAKX,PINE.B"

  /// By decoder, as `Probe(_:)` reads it.
  private static let names: [(requestText: String, fixtures: [String])] = [
    (
      "quotes",
      [
        "stocks.gb18030.txt", "funds.gb18030.txt", "indexes.gb18030.txt", "session.gb18030.txt",
        "statuses.gb18030.txt", "exempt.gb18030.txt", "overview.gb18030.txt",
        "unknown.gb18030.txt", "bad-rows.gb18030.txt", "stocks.utf8.txt",
        "refused-ban-page.gb18030.html", "refused-sys-auth.txt", "refused-referer.txt",
        "refused-html.html", "refused-null.txt", "refused-garbage.txt",
      ]
    ),
    (
      "tencent-quotes",
      [
        "tencent-stocks.gb18030.txt", "tencent-stocks.utf8.txt", "tencent-separated.gb18030.txt",
        "tencent-funds.gb18030.txt", "tencent-indexes.gb18030.txt", "tencent-states.gb18030.txt",
        "tencent-auction.gb18030.txt", "tencent-limits.gb18030.txt", "tencent-counts.gb18030.txt",
        "tencent-cut.gb18030.txt", "tencent-bad-rows.gb18030.txt", "tencent-other.gb18030.txt",
        "tencent-none-match.txt",
      ]
    ),
    ("kline 1 sz000002 1970", ["kline-1m.jsonp.txt", "kline-bad-rows.jsonp.txt"]),
    ("kline 60 sz000002 1970", ["kline-60m.jsonp.txt"]),
    ("kline 240 sz000002 1970", ["kline-1d.json", "kline-input-error.json", "kline-none.json"]),
    ("kline 1200 sz000002 1970", ["kline-1w.jsonp.txt", "kline-null.jsonp.txt"]),
    ("factors qfq sh600000", ["factors-qfq.js.txt"]),
    ("factors hfq sz300592", ["factors-hfq.js.txt"]),
    ("node hs_a 1", ["node-page.json"]),
    ("node-count hs_a", ["node-count.json"]),
    ("calendar sh", ["calendar.js.txt"]),
    (
      "list hslt",
      [
        "mairui-bare.json", "mairui-suffixed.json", "mairui-faults.json",
        "mairui-licence-code.json", "mairui-licence-detail.json", "mairui-addresses.json",
        "mairui-no-data.json", "mairui-other.json", "mairui-quota-code.json",
        "mairui-quota-text.txt",
      ]
    ),
    (
      bars,
      [
        "alpaca-multi.json", "alpaca-faults.json", "alpaca-empty.json",
        "alpaca-null.json", "alpaca-absent.json", "alpaca-snapshot.json",
        "alpaca-invalid-symbol.json", "alpaca-recent-sip.json", "alpaca-too-many.json",
      ]
    ),
    (days, ["alpaca-days.json"]),
    ("calendar us 2026-09-01 2026-12-31", ["alpaca-calendar.json"]),
    ("assets us", ["alpaca-assets.json"]),
  ]

  /// All of them.
  /// - Throws: `Missing` for a fixture that is not there, or a question nobody can ask.
  package static func all() throws(Missing) -> [HostileBody] {
    var bodies: [HostileBody] = []
    for (requestText, fixtures) in names {
      guard let probe = Probe(requestText) else { throw Missing(name: requestText) }
      for name in fixtures {
        bodies.append(HostileBody(name: name, probe: probe, bytes: try fixture(name)))
      }
    }
    return bodies
  }

  /// A fixture of the feeds' tests.
  package static func fixture(_ name: String) throws(Missing) -> [UInt8] {
    guard let file = fopen(folder + name, "re") else { throw Missing(name: name) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: bytesMax)
    let count = fread(&bytes, 1, bytesMax, file)
    return Array(bytes.prefix(count))
  }

  private static let bytesMax = 1 << 20

  /// Found from where this source lies.
  private static let folder = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    return parts.joined(separator: "/") + "/FeedsTests/Fixtures/"
  }()
}
