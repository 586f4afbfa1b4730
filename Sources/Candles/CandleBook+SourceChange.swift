import Market

/// One book over a change of source. Totals are the exchange's, whoever serves them, so a day goes
/// on where it stands. What differs is how late a source shows them, how finely, and what its
/// stamps mean: one has the last trade's, another the moment it refreshed the row.
extension CandleBook {
  /// Another source serves from here on. Call it with the receive time of its first answer, before
  /// the rows of that answer are observed.
  ///
  /// What contradicted the standing totals came from the source before, and counts no more.
  package mutating func sourceChanged(at moment: Timestamp) {
    changedSourceAt = moment
    for index in disputes.keys.sorted() {
      guard var dispute = disputes[index] else { continue }
      if instruments[index].isDisputed {
        dispute.held = dispute.held.last.map { [$0.uncountedOfAnotherSource] } ?? []
        dispute.otherReading = dispute.otherReading.last.map { [$0.uncountedOfAnotherSource] } ?? []
      } else {
        dispute.held = []
        dispute.base = nil
        (dispute.against, dispute.confirmations, dispute.confirmationRun) = (0, 0, 0)
        dispute.replaced?.returned = []
      }
      let isOver = dispute.replaced == nil && !instruments[index].isDisputed
      disputes[index] = isOver ? nil : dispute
      output.touched.append(index)
    }
  }
}

extension HeldRow {
  /// The row of another source: its stamp says nothing about the stamps that come.
  fileprivate var uncountedOfAnotherSource: HeldRow {
    var head = uncounted
    head.quote.secondOfDay = 0
    return head
  }
}

extension InstrumentDay {
  /// What is left of an objection to a row after a change of source.
  ///
  /// Stamps of two sources are not compared: an older one with no fewer totals continues the day.
  /// With fewer totals, or by their stamps, rows of the first sweeps only lag.
  func reconsidered(
    _ objection: Objection, to quote: Quote, receivedAt: Timestamp, changedSourceAt: Timestamp,
    rules: CandleRules
  ) -> Objection? {
    let isOfSourceBefore =
      moment(booked.stamp) <= changedSourceAt.adding(seconds: rules.clockSkewSecondsMax)
    if objection.weight == .lagging, isOfSourceBefore {
      var known = totals
      known.second = min(known.second, Int(quote.secondOfDay))
      if known.isContinued(by: quote, rules: rules) { return nil }
    }
    let isLag = objection.reason == .lagging || objection.reason == .backwardStamp
    guard isLag, receivedAt <= changedSourceAt.adding(seconds: rules.lagSecondsMax) else {
      return objection
    }
    return .lagging(objection.detail)
  }
}
