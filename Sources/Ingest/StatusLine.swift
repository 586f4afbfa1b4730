import Journal
import Market
import Polling
import Store

/// The one line `systemctl status` shows: what an operator wants to know first, a pure function of
/// the report. Nothing in it comes from outside but the sentence of a refused reload, which whoever
/// prints it masks.
extension DaemonReport {
  public var statusLine: String {
    var parts = [roleText]
    let stale = loops.filter(\.isStale).map(\.name)
    if !stale.isEmpty { parts.append("hangs: \(stale.joined(separator: ", "))") }
    if let since = storeAwaySince, engine == nil {
      parts.append("store away since \(since.clockMinute)")
    }
    if let engine {
      if role.isLeading { parts += engine.marketTexts }
      parts += engine.storeTexts(awaySince: storeAwaySince)
    }
    if let reload, let problem = reload.problem { parts.append("reload refused: \(problem)") }
    if let reload, !reload.needsRestart.isEmpty {
      parts.append("needs a restart: \(reload.needsRestart.joined(separator: ", "))")
    }
    return parts.joined(separator: " · ")
  }

  private var roleText: String {
    switch role {
    case .starting: "starting"
    case .standby(let leader): "standby behind \(leader)"
    case .leading: "leading"
    case .draining: "draining"
    }
  }
}

extension EngineReport {
  fileprivate var marketTexts: [String] {
    var texts = [sessionText, symbols == 1 ? "1 instrument" : "\(symbols) instruments"]
    for source in sources {
      guard let condition = source.state?.condition else { continue }
      // One that is well needs no word, the quotes apart.
      if source.isQuotes {
        texts.append("\(source.source.name) \(condition)\(sweepText)")
      } else if condition != .ok {
        texts.append("\(source.name) \(condition)")
      }
    }
    if isCertificateOverdue { texts.append("certificates overdue") }
    return texts
  }

  private var sweepText: String {
    status.lastSweepAt.map {
      ", last sweep \(max(now.microseconds(since: $0), 0) / 1_000_000) s ago"
    }
      ?? ""
  }

  private var sessionText: String {
    if isTodayUnknown { return "calendar ended" }
    // Others may be in theirs, New York's.
    guard sources.first(where: \.isQuotes)?.freshness?.isInSession == true else {
      return "market closed"
    }
    return switch now.shanghaiSecondOfDay {
    case ..<Session.morningOpen: "opening auction"
    case ..<Session.morningClose: "morning session"
    case ..<Session.afternoonOpen: "midday"
    case ..<Session.closingAuction: "afternoon session"
    case ..<Session.afternoonClose: "closing auction"
    default: "after hours"
    }
  }

  /// - Parameter awaySince: since when the lease cannot be renewed.
  fileprivate func storeTexts(awaySince: Timestamp?) -> [String] {
    var texts: [String] = []
    let held = max(lastPosition.sequence - status.committed.sequence, 0)
    if status.storeFault != nil || awaySince != nil {
      let since = (status.storeFaultSince ?? awaySince).map { " since \($0.clockMinute)" } ?? ""
      texts.append("store away\(since), journal holds \(held) entries")
    } else if status.commits > 0 {
      let pending = pendingCandles == 0 ? "nothing pending" : "\(pendingCandles) candles pending"
      texts.append("commit \(status.commitMicroseconds / 1_000) ms, \(pending)")
    }
    if isCatchingUp { texts.append("catching up, \(backlogEntries) entries behind") }
    if status.journalFault != nil { texts.append("journal takes no entries") }
    return texts
  }
}

extension SourceReport {
  fileprivate var isQuotes: Bool { endpoint == "quotes" }
}

extension Timestamp {
  /// `09:41`, in Shanghai.
  fileprivate var clockMinute: String {
    let minutes = shanghaiSecondOfDay / 60
    let digits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    return "\(digits(minutes / 60)):\(digits(minutes % 60))"
  }
}
