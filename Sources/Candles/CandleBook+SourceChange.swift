import Market

/// One book over a change of source. Totals are the exchange's, whoever serves them, so a day goes
/// on where it stands; what differs is how late a source shows them, and how finely.
extension CandleBook {
  /// Another source serves from here on. Call it with the receive time of its first answer, before
  /// the rows of that answer are observed.
  package mutating func sourceChanged(at moment: Timestamp) {
    changedSourceAt = moment
  }
}
