import Commits
import Market
import TestSupport
import Testing

@testable import History

/// What a replay finds in tables, each kind of difference in each kind of row.
@Suite struct `A replay's verification` {
  private let commits: [Commit]
  private let tables: StoredTables

  init() {
    var samples = StoreSamples(seed: 7)
    var first = samples.minute(0, position: 1, instruments: 3)
    first.gaps = [StoreSamples.gap(0), StoreSamples.gap(1), StoreSamples.gap(1)]
    first.rejections = [StoreSamples.rejection(0)]
    first.reference.serving = [
      ServingRow(series: .live, since: first.knownAt, source: .mairui)
    ]
    var second = samples.minute(1, position: 2, instruments: 3)
    second.closedGaps = [StoreSamples.gap(0)]
    second.certificates = [StoreSamples.certificate]
    var revised = first.candles[2]
    revised.flags = []
    second.revisions = [Revision(candle: revised, cause: .latePrint)]
    commits = [first, second]
    var tables = StoredTables()
    tables.take(first)
    tables.take(second)
    // One of two equal gaps is another row.
    tables.gaps = [StoreSamples.gap(1), StoreSamples.gap(1)]
    self.tables = tables
  }

  private func differences(from tables: StoredTables) throws -> ReplayDifferences {
    var verification = try ReplayVerification(tables)
    for commit in commits {
      try verification.record(commit.knownAt)
      try verification.add(commit)
    }
    try verification.finish()
    return verification.differences
  }

  @Test func `finds none in equal tables`() throws {
    let differences = try differences(from: tables)
    #expect(differences.total == 0 && differences.kept.isEmpty)
  }

  enum Table: String, CaseIterable {
    case candle, gap, rejected, quote, serving
    case certificate = "day_audit"

    /// Removes the first row.
    func shorten(_ tables: inout StoredTables) {
      switch self {
      case .candle: tables.candles.removeFirst()
      case .gap: tables.gaps = []
      case .certificate: tables.certificates.removeFirst()
      case .rejected: tables.refused.removeFirst()
      case .quote: tables.quoteRows.removeFirst()
      case .serving: tables.servingRows.removeFirst()
      }
    }

    /// Adds a row that the journal does not make.
    func lengthen(_ tables: inout StoredTables) {
      var samples = StoreSamples(seed: 8)
      switch self {
      case .candle: tables.candles.append(samples.candle(1, minute: 7))
      case .gap: tables.gaps.append(StoreSamples.gap(2))
      case .certificate:
        tables.certificates.append(StoreSamples.certificate)
        tables.certificates[1].symbol = StoreSamples.symbol(1)
      case .rejected: tables.refused.append(StoreSamples.rejection(1))
      case .quote: tables.quoteRows.append(samples.quote(5, second: Session.morningOpen))
      case .serving:
        let since = StoreSamples.start.adding(seconds: 3_600)
        tables.servingRows.append(ServingRow(series: .live, since: since, source: .sina))
      }
    }
  }

  @Test(arguments: Table.allCases) func `finds a row that is missing`(_ table: Table) throws {
    var tables = tables
    table.shorten(&tables)
    let differences = try differences(from: tables)
    #expect(differences.total == 1)
    let difference = try #require(differences.kept.first)
    #expect(difference.table == table.rawValue)
    #expect(difference.stored == nil && difference.replayed != nil)
  }

  @Test(arguments: Table.allCases) func `finds a row too many`(_ table: Table) throws {
    var tables = tables
    table.lengthen(&tables)
    let differences = try differences(from: tables)
    #expect(differences.total == 1)
    let difference = try #require(differences.kept.first)
    #expect(difference.table == table.rawValue)
    #expect(difference.stored != nil && difference.replayed == nil)
  }

  @Test func `finds a row that differs, and prints both`() throws {
    var candle = tables
    candle.candles[0].volume = ExactDecimal(17)
    var certificate = tables
    certificate.certificates[0].minuteVolume = ExactDecimal(17)
    var quote = tables
    quote.quoteRows[0].quote.volume = ExactDecimal(17)
    for (table, tables) in [("candle", candle), ("day_audit", certificate), ("quote", quote)] {
      let differences = try differences(from: tables)
      #expect(differences.total == 1, "\(table)")
      let difference = try #require(differences.kept.first)
      #expect(difference.table == table)
      #expect(difference.stored?.contains("17") == true && difference.replayed != nil)
      #expect(difference.stored != difference.replayed)
    }
    // Equal rows are told apart by their number.
    var gaps = tables
    gaps.gaps.removeLast()
    let found = try differences(from: gaps).kept
    #expect(found.map(\.stored) == ["1"] && found.map(\.replayed) == ["2"])
  }

  @Test func `leaves out who served before the first entry`() throws {
    var tables = tables
    let before = StoreSamples.start.adding(seconds: -3_600)
    tables.servingRows.insert(ServingRow(series: .live, since: before, source: .sina), at: 0)
    #expect(try differences(from: tables).total == 0)
  }

  @Test func `compares a quote without what the table does not have`() throws {
    var commits = commits
    commits[0].quotes[0].quote.rounding = Rounding(volume: 50, turnover: 1)
    var verification = try ReplayVerification(tables)
    for commit in commits {
      try verification.record(commit.knownAt)
      try verification.add(commit)
    }
    try verification.finish()
    #expect(verification.differences.total == 0)
  }

  @Test func `leaves out a certificate that bars were compared with`() throws {
    var tables = tables
    tables.certificates[0].minuteVolume = ExactDecimal(17)
    tables.repairedAt = StoreSamples.start
    #expect(try differences(from: tables).total == 0)
  }

  @Test func `keeps the first hundred differences and counts all`() {
    var differences = ReplayDifferences()
    let numbers = Set(0..<250)
    differences.compare("candle", stored: numbers, replayed: [])
    differences.compare("gap", stored: [], replayed: [1])
    #expect(differences.total == 251 && differences.kept.count == 100)
    #expect(differences.kept.map(\.key) == differences.kept.map(\.key).sorted())
  }
}
