import Store

/// The change feed, read with plain SQL.
struct StoredFeed {
  let url: String

  /// When the first commit since `moment` was made, both in microseconds of the real clock.
  func firstCommit(after moment: Int64) throws -> Int64? {
    let row = try SQLProbe.run(
      """
      select (extract(epoch from min(committed_at)) * 1000000)::bigint from candled.change
      where committed_at >
        timestamptz 'epoch' + interval '\(moment / 1_000_000) s \(moment % 1_000_000) us'
      """, url: url)[0]
    return row[0].flatMap { Int64($0) }
  }

  func commits() throws -> Int {
    var fields = StoredFields(
      try SQLProbe.run("select count(*) from candled.change", url: url)[0])
    return Int(try fields.number())
  }
}
