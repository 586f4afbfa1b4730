import AppStore
import Market
import PaperTrading

/// How an account came to its holdings, derived again: what `HoldingTable.basis` says in SQL.
struct HoldingMoves {
  private struct Move {
    let sequence: Int64
    /// The posting that it follows from: itself, or the one that it takes back.
    let cause: Int64
    let day: TradingDay
    let shares: ExactDecimal
    let isSale: Bool
  }

  private var moves: [Symbol: [Move]] = [:]
  /// What was paid for shares, by the posting.
  private var paid: [Int64: ExactDecimal] = [:]
  private var reversed: Set<Int64> = []

  mutating func pay(_ amount: ExactDecimal, by sequence: Int64) { paid[sequence] = amount }

  /// Shares come out of the market's book, which falls by them. Those that became others were held
  /// before the day on which they did.
  mutating func add(_ entries: [LedgerEntry], of posting: HistoryPosting, isSale: Bool) {
    if let refersTo = posting.refersTo { reversed.insert(refersTo) }
    for entry in entries where entry.book.kind == .market {
      guard let symbol = entry.book.unit.symbol, let shares = try? .zero - entry.amount else {
        continue
      }
      moves[symbol, default: []].append(
        Move(
          sequence: posting.sequence, cause: posting.refersTo ?? posting.sequence,
          day: posting.cost == nil ? posting.day : posting.day.advanced(by: -1), shares: shares,
          isSale: isSale))
    }
  }

  func held(
    of symbol: Symbol, before day: TradingDay
  ) throws(ExactDecimalError) -> ExactDecimal {
    var held = ExactDecimal.zero
    for move in moves[symbol] ?? [] where move.day < day { held = try held + move.shares }
    return held
  }

  /// What was paid for all that is held now.
  func cost(of symbol: Symbol) throws(ExactDecimalError) -> ExactDecimal {
    var (held, bought, cost) = (ExactDecimal.zero, ExactDecimal.zero, ExactDecimal.zero)
    for move in moves[symbol] ?? [] {
      held = try held + move.shares
      if !move.isSale { bought = try bought + move.shares }
      if let amount = paid[move.cause] {
        cost = try move.shares.isNegative ? cost - amount : cost + amount
      }
      if held.isZero, !reversed.contains(move.sequence) { (bought, cost) = (.zero, .zero) }
    }
    return try HoldingRecord.cost(of: held, bought: bought, paid: cost)
  }
}
