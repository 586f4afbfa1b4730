/// A sweep of the whole market from journal entries to a commit: decoding, the candle book, what
/// changed, and the rows of it.

import Commits
import Feeds
import Ingest
import Journal
import Market
import Store

let pipelineSection = BenchSection(
  name: "pipeline", title: "a sweep of 5,400 lines: decode, candle book, changes, commit value"
) { _ in
  var bench = PipelineBench()
  bench.run()
  report([bench.decoding] + bench.sweeps.map(\.row))
  for (row, share) in bench.sweeps where share == PipelineBench.checkedShare {
    check(row.name, row.median, atMost: 3, "ms")
  }
}

private struct PipelineBench {
  static let checkedShare = 0.3
  private static let rounds = 60

  private var market = MovingMarket()
  private var pipeline = Pipeline()
  private var position: Int64 = 0
  var decoding = BenchRow("floor: decode alone")
  var sweeps = [0.0, checkedShare, 1.0].map { share in
    (row: BenchRow("candled: \(Int(share * 100)) % changed"), share: share)
  }

  mutating func run() {
    _ = sweep(market.entries())
    for _ in 0..<Self.rounds {
      for place in sweeps.indices {
        market.advance(changing: sweeps[place].share)
        let entries = market.entries()
        var row = sweeps[place].row
        row.measure { consume(sweep(entries)) }
        sweeps[place].row = row
      }
      decode(market.entries())
    }
    let counters = pipeline.counters
    precondition(counters.rejectedRows.isEmpty, "a row was refused: \(counters.rejectedRows)")
  }

  private mutating func sweep(_ entries: [JournalEntry]) -> Int {
    for entry in entries {
      position += 1
      pipeline.process(entry, at: JournalPosition(position))
    }
    return pipeline.takeCommit()?.quotes.count ?? 0
  }

  private mutating func decode(_ entries: [JournalEntry]) {
    var decoder = SinaQuoteDecoder()
    var nobody = Nobody()
    decoding.measure {
      for entry in entries {
        entry.body.withUnsafeBytes { _ = decoder.decode($0, status: 200, into: &nobody) }
      }
    }
    consume(nobody.units)
  }
}

private struct Nobody: QuoteVisitor {
  var units: Int64 = 0

  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    units &+= quote.last.units
  }
  mutating func overview(_ quote: OverviewQuote) {}
  mutating func unknown(_ symbol: Symbol) {}
  mutating func rejected(_ row: RejectedRow) {}
}
