import ExchangeSimulator
import TestExchange

/// What a line says was traded; money in thousandths.
protocol Traded {
  var volume: Int64 { get }
  var turnover: Int64 { get }
}

extension DayTape.Frame: Traded {}
extension DayTape.AfterHoursFrame: Traded {}

/// What is known to have traded of an instrument; money in thousandths.
///
/// Rounded totals are lower bounds: the exchange's own are never below, so that an exact line after
/// them only adds.
struct Totals {
  private(set) var volume: Int64 = 0
  private(set) var turnover: Int64 = 0
  /// As they were last served: they may be below the exchange's.
  private(set) var isRounded = false

  init() {}

  init(exact traded: some Traded) {
    volume = traded.volume
    turnover = traded.turnover
  }

  /// What they are after a line that rounds these; nil if it shows fewer.
  func after(rounded traded: some Traded, _ traits: Traits) -> Totals? {
    let lot = RefreshedLines.lot(traits)
    let stated = RefreshedLines.lots(traded.volume, traits) * lot
    let money = RefreshedLines.yuan(traded.turnover) * 1000
    let volumeError: Int64 = lot > 1 ? 50 : 0
    if stated + volumeError < volume || money + 1000 < turnover { return nil }
    var next = self
    next.volume = max(stated - volumeError, volume)
    next.turnover = max(money - 1000, turnover)
    // Where nothing traded nothing was rounded.
    next.isRounded = stated > 0 || money > 0
    return next
  }
}
