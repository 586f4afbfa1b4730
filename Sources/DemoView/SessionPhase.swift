import Market

/// Where in the A-share trading day a Shanghai wall clock stands.
package enum SessionPhase: String, Sendable, CaseIterable {
  case beforeOpen = "before the open"
  case openingAuction = "opening auction"
  /// 09:25–09:30: the auction has matched, trading has not begun.
  case openingPause = "opening pause"
  case morning = "morning session"
  case lunch = "lunch break"
  case afternoon = "afternoon session"
  case closingAuction = "closing auction"
  case closed = "closed"
  case afterHours = "after hours"

  package init(secondOfDay: Int) {
    self =
      switch secondOfDay {
      case ..<Session.auctionOpen: .beforeOpen
      case ..<Session.auctionMatch: .openingAuction
      case ..<Session.morningOpen: .openingPause
      case ..<Session.morningClose: .morning
      case ..<Session.afternoonOpen: .lunch
      case ..<Session.closingAuction: .afternoon
      case ..<Session.afternoonClose: .closingAuction
      case ..<Session.afterHoursOpen: .closed
      case ..<Session.afterHoursClose: .afterHours
      default: .closed
      }
  }
}
