import Feeds
import Market
import Polling

/// The one line `systemctl status` shows: what an operator wants to know first, a pure function of
/// the report. Nothing in it comes from outside but the sentence of a refused reload, which whoever
/// prints it masks.
extension DaemonReport {
  package var statusLine: String {
    var parts = [role.isLeading ? role.word : "\(role)"]
    if !staleLoops.isEmpty { parts.append("no progress: \(staleLoops.joined(separator: ", "))") }
    if let since = storeAwaySince, engine == nil {
      parts.append("no database since \(since.clockMinute)")
    }
    if let engine {
      if role.isLeading { parts += engine.marketTexts }
      parts += engine.storeTexts(awaySince: storeAwaySince)
    }
    if let fault = privateServer?.fault { parts.append(fault) }
    if let reload, let problem = reload.problem { parts.append("reload refused: \(problem)") }
    if let reload, !reload.needsRestart.isEmpty {
      parts.append("restart needed for \(reload.needsRestart.joined(separator: ", "))")
    }
    return parts.joined(separator: " · ")
  }
}

extension EngineReport {
  fileprivate var marketTexts: [String] {
    var texts = [sessionText, counted(symbols, "instrument")]
    for source in sources {
      guard let condition = source.state?.condition else { continue }
      let fault = source.fault.map { ": " + $0.sentence(at: now) }
      // A healthy source is left out, except for the quotes.
      if source.isQuotes, !source.isStandby {
        let since = source.servingSince.map { ", serves since \($0.clock(on: now))" } ?? ""
        texts.append("\(source.source.name) \(condition)\(fault ?? sweepText)\(since)")
      } else if condition != .ok {
        texts.append("\(source.name) \(condition)\(fault ?? "")")
      }
    }
    if isCertificateOverdue { texts.append("certificates overdue") }
    return texts
  }

  private var sweepText: String {
    status.quotes.lastSweepAt.map {
      ", last sweep \(max(now.microseconds(since: $0), 0) / 1_000_000) s ago"
    }
      ?? ""
  }

  /// `morning session`, or `market closed, next session Mon 09:15 Shanghai`.
  package var sessionText: String {
    (calendarNotice.map { "\($0), " } ?? "") + phaseText
  }

  private var phaseText: String {
    // Others may be in theirs, New York's.
    guard quotes?.freshness?.isInSession == true else {
      return closedText
    }
    let hours = TradingHours.mainlandChina(on: now.shanghaiDay)
    let (pause, auction) = (hours.breakSeconds, hours.silentMinutes)
    return switch now.shanghaiSecondOfDay {
    case ..<hours.opens: "opening auction"
    case ..<pause.lowerBound: "morning session"
    case ..<pause.upperBound: "midday"
    case ..<(auction.isEmpty ? hours.closes : hours.opening(ofMinute: auction.lowerBound)):
      "afternoon session"
    case ..<hours.closes: "closing auction"
    default: "after hours"
    }
  }

  private var closedText: String {
    guard let next = calendar.nextSession else { return "market closed" }
    // What is next at half past nine, the afternoon, is of today: then today trades.
    let isAuction = (Session.auctionOpen..<Session.morningOpen).contains(now.shanghaiSecondOfDay)
    if isAuction, next.shanghaiDay == now.shanghaiDay { return "opening auction" }
    let isNear = now.shanghaiDay.distance(to: next.shanghaiDay) < 7
    let weekday = next.shanghaiDay.weekdayName
    let day = isNear ? "" : " \(next.shanghaiDay)"
    return "market closed, next session \(weekday)\(day) \(next.clockMinute) Shanghai"
  }

  /// - Parameter awaySince: since when the lease cannot be renewed.
  fileprivate func storeTexts(awaySince: Timestamp?) -> [String] {
    var texts: [String] = []
    let held = max(backlog.lastPosition.sequence - status.journal.committed.sequence, 0)
    if status.store.fault != nil || awaySince != nil {
      let since = (status.store.fault?.since ?? awaySince).map { " since \($0.clockMinute)" } ?? ""
      let entries = counted(held, "entry", "entries")
      texts.append("no commits\(since), journal holds \(entries)")
    } else if status.commits.count > 0 {
      let candles = backlog.pendingCandles
      let pending = candles == 0 ? "nothing pending" : counted(candles, "candle") + " pending"
      texts.append("commit \(status.commits.duration.microseconds / 1_000) ms, \(pending)")
    }
    if backlog.isCatchingUp {
      texts.append("catching up, \(counted(backlog.entries, "entry", "entries")) behind")
    }
    if status.journal.fault != nil { texts.append("cannot write to the journal") }
    return texts
  }
}
