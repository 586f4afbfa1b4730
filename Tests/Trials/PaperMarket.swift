import AppStore
import Ledgers
import Market
import PaperTrading
import TestSupport

/// What is traded in the trial of the ledger.
struct PaperInstrument: Sendable {
  let symbol: Symbol
  let instrument: Instrument
  let kind: PaperModel.Kind
  let settlesSameDay: Bool
  /// Decimals of its prices.
  let places: UInt8

  static let all: [PaperInstrument] = [
    PaperInstrument("sh600519", .stock), PaperInstrument("sz300750", .stock),
    PaperInstrument("bj920000", .stock), PaperInstrument("sh510300", .fund, places: 3),
    PaperInstrument("sz128136", .bond, settlesSameDay: true, places: 3),
  ].compactMap { $0 }

  static let bySymbol = Dictionary(uniqueKeysWithValues: all.map { ($0.symbol, $0) })

  private init?(
    _ spelling: String, _ kind: PaperModel.Kind, settlesSameDay: Bool = false, places: UInt8 = 2
  ) {
    guard let symbol = Symbol(spelling), let instrument = Instrument.classify(symbol) else {
      return nil
    }
    self.symbol = symbol
    self.kind = kind
    self.settlesSameDay = settlesSameDay
    self.places = places
    self.instrument = instrument
  }
}

/// What the broker of the trial did, in order: the model does it again in its own way.
enum PaperFact: Sendable {
  case command(PendingCommand, orderID: Int64, outcome: CommandOutcome)
  case fill(order: Int64, quantity: Int64, thousandths: Int64)
  case reversal(order: Int64, quantity: Int64, thousandths: Int64, isDone: Bool)
  case day(account: Int64, renewed: Set<Int64>)
  case dividend(account: Int64, cents: Int64)
  case bonus(account: Int64, symbol: Symbol, shares: Int64)
  case merger(account: Int64, symbol: Symbol, successor: Symbol)
}

extension ExactDecimal {
  /// In units of 10^-places; nil if it is finer.
  func whole(places: UInt8) -> Int64? {
    guard normalized.scale <= places else { return nil }
    return try? rescaled(places: places).units
  }
}
