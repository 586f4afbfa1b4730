import Market

/// The numbers of the candle rules (docs/candle-rules.md) and the hours they are applied to, in one
/// place. Copied often: it must hold nothing that is counted.
package struct CandleRules: Sendable {
  /// How much trading time two rows may lie apart and still count as watching without a
  /// break, when a minute boundary lies between them: four lost polls at the exchange's 3 s.
  package var silenceSecondsMax = 15
  /// How long after its close a minute waits for prints that are stamped into it.
  package var graceSeconds = 6
  /// The same for the last minute before lunch and before the close, whose prints straggle
  /// (docs/sources/sina.md#the-course-of-a-day: SZ closes at 15:00:03).
  package var sessionGraceSeconds = 60
  /// How long after its grace a minute waits for a feed that is silent; more than the longest
  /// silence, so that what is given up here is a gap for certain.
  package var sourceTimeoutSeconds = 30
  /// How long after the close a row's own closing print may be seen. What proves the row is the
  /// newest stamp of its answer, and an index is stamped 15:00:03 while prints are still to come.
  package var closingPrintSecondsMax = 60
  /// A stamp may be this far ahead of the receiver's clock before it is taken for a lie.
  package var clockSkewSecondsMax: Int64 = 10
  /// A last price this many times its previous close, or a fraction of it, is no price: the
  /// largest first-day gain on record is about 20 times.
  package var priceRatioMax: Int64 = 50
  /// How far money per share may move between two rows of one day.
  package var averageRatioMax: Int64 = 10
  /// So many answers that agree with each other outweigh what is remembered.
  package var agreeingResponsesMin = 3
  /// So many answers without trading show that prices beyond the band are the day's: a minute of
  /// them at the exchange's 3 s.
  package var standingAnswersMin = 21
  /// Answers that lie further apart are no consecutive ones: the longest cadence of the day's polls
  /// is 60 s, and one may be lost.
  package var disputeSecondsMax: Int64 = 130
  /// A standing row that no answer has had for so long is no newer one than those they have.
  package var unobservedSecondsMin = 60
  /// How long after a change of source its rows may lie behind the standing ones: five sweeps.
  package var lagSecondsMax: Int64 { 15 }
  /// How long after a correction the replaced readings may come back and undo it.
  package var undoSecondsMax: Int64 = 60
  /// The hours of the market whose quotes are booked.
  package internal(set) var hours = TradingHours.mainlandChina
  /// Whose candles they become.
  package internal(set) var source = Source.live

  package init() {}

  /// When the exchange has said its last of a day; certificates are written then.
  package var dayEndSecondOfDay: Int { hours.dayEnds }

  /// The day is proven to its end: beyond the closing print, or to the midnight that it ends with.
  var settledSecond: Int { min(hours.closes + closingPrintSecondsMax, hours.lastSecond) }
}

/// What the rules decided: rows for the store, in the order they came about.
package struct CandleOutput: Sendable {
  package var candles: [Candle] = []
  package var revisions: [Revision] = []
  package var gaps: [Gap] = []
  /// Gaps handed out before that stand no more: one that adjoins took their place, or what they
  /// held was taken back.
  package var closedGaps: [Gap] = []
  package var certificates: [DayCertificate] = []
  package var events: [FeedEvent] = []
  /// Indexes of instruments whose stored state a timer changed.
  package var touched: [Int] = []

  package init() {}

  package var isEmpty: Bool {
    candles.isEmpty && revisions.isEmpty && gaps.isEmpty && closedGaps.isEmpty
      && certificates.isEmpty && events.isEmpty && touched.isEmpty
  }
}
