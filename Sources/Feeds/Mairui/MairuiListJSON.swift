/// What `candled decode mairui-list` prints: one JSON object a row, in the order of the body.
///
/// The keys and words are a contract; the golden files of the tests hold them.

import Market

package enum MairuiListJSON {
  /// The lines to print for one answer, and whether it was refused as a whole.
  package static func write(
    body: UnsafeRawBufferPointer, status: Int
  ) -> (lines: [String], isRefused: Bool) {
    do throws(FeedRefusal) {
      return (lines(of: try MairuiList.page(body, status: status)), false)
    } catch {
      return ([error.json], true)
    }
  }

  /// A row that another one for the same symbol follows does not count, and is printed so.
  private static func lines(of page: MairuiList.Page) -> [String] {
    var last: [Symbol: Int] = [:]
    for (index, row) in page.listed.enumerated() { last[row.symbol] = index }
    let rows = page.listed.enumerated().map { index, row in
      last[row.symbol] == index
        ? line(of: row)
        : RefusedRow.json(row.symbol, reason: .duplicate, detail: "repeated later in the list")
    }
    return rows.merged(with: page.refused) + page.dropped.map(\.json)
  }

  private static func line(of row: ListedInstrument) -> String {
    var json = JSONLine()
    json.add("symbol", value: row.symbol.description)
    json.add("name", value: row.name)
    json.add("exchange", value: row.exchange.name)
    return json.finished
  }
}
