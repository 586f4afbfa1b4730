import Market

/// The minutes of an earlier day: they add up to its bar, turnover apart, which is theirs.
extension EarlierDays {
  /// The day's bar with the turnover its minutes add up to.
  func bar(byMinutesAt index: Int) -> TrueLedger.Minute {
    TrueLedger.Minute(minutes(at: index))
  }

  /// 240 minutes, those without a trade all zero.
  func minutes(at index: Int) -> [TrueLedger.Minute] {
    let bar = bars[index]
    var minutes = Array(repeating: TrueLedger.Minute(), count: TrueLedger.minutesPerDay)
    guard bar.volume > 0 else { return minutes }
    var random = Randomness(
      seed: Randomness.mixed(seed &+ UInt64(bitPattern: Int64(days[index].daysSince1970))),
      stream: UInt64(place) &+ 0x3170)
    let volumes = volumes(of: bar, using: &random)
    let traded = volumes.indices.filter { volumes[$0] > 0 }
    // The minutes in which the day has its high and its low.
    let highest = traded[Int(random.below(Int64(traded.count)))]
    let lowest = traded[Int(random.below(Int64(traded.count)))]
    var last = bar.open
    for (step, minute) in traded.enumerated() {
      let isLast = step == traded.count - 1
      let close =
        isLast ? bar.close : price(after: step + 1, of: traded.count, in: bar, using: &random)
      let (high, low) = (max(last, close), min(last, close))
      minutes[minute] = TrueLedger.Minute(
        open: last, high: minute == highest ? bar.high : high,
        low: minute == lowest ? bar.low : low, close: close, volume: volumes[minute])
      minutes[minute].turnover = turnover(of: volumes[minute], at: minutes[minute].mean)
      last = close
    }
    return minutes
  }

  /// A point of the way from open to close, with a detour inside the day's range.
  private func price(
    after step: Int, of steps: Int, in bar: TrueLedger.Minute, using random: inout Randomness
  ) -> Int64 {
    let straight = bar.open + (bar.close - bar.open) * Int64(step) / Int64(steps)
    let reach = (bar.high - bar.low) / 4
    let price = traits.onTick(straight + random.below(2 * reach + 1) - reach)
    return min(max(price, bar.low), bar.high)
  }

  /// Most at either end of the day; an illiquid instrument has minutes without a trade.
  private func volumes(of bar: TrueLedger.Minute, using random: inout Randomness) -> [Int64] {
    let tradedPerMille: Int64 = traits.behaviour == .illiquid ? 300 : 950
    var weights = (0..<TrueLedger.minutesPerDay).map { _ in
      random.chance(perMille: tradedPerMille) ? 10 + random.below(90) : 0
    }
    weights[0] += 500
    weights[weights.count - 1] += 300
    let sum = weights.reduce(0, +)
    let lots = bar.volume / traits.order.minimum
    var (passed, given): (Int64, Int64) = (0, 0)
    return weights.map { weight in
      passed += weight
      let share = lots * passed / sum - given
      given += share
      return share * traits.order.minimum
    }
  }
}

extension TrueLedger.Minute {
  /// Within the range.
  fileprivate var mean: Int64 { (open + high + low + close) / 4 }
}
