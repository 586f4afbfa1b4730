import Admin
import HTTPServing
import Market
import Operations
import TerminalView

/// What a running daemon says of itself, or why none does.
struct DaemonReply {
  private var document: StatusDocument?
  /// As it came, one JSON object.
  private var raw: String?
  private var silence = ""

  /// Nobody is asked.
  init(silence: String) { self.silence = silence }

  /// - Parameter address: where it would listen.
  init(of address: ListenAddress?) {
    guard let address else {
      silence = "admin.listen is off"
      return
    }
    do {
      let (status, body) = try HTTPFetch.get("/status", from: address)
      document = StatusDocument(json: body)
      if document == nil {
        silence = "another server than candled listens at \(address) (HTTP \(status))"
      } else {
        raw = body.split(separator: "\n").first.map(String.init)
      }
    } catch {
      silence = "not running, or not listening at \(address) (\(error))"
    }
  }

  var isThere: Bool { document != nil }

  var json: String { raw ?? "null" }

  var text: String {
    guard let document else { return "daemon  \(silence)\n" }
    return ResultWriter.text(
      format: .table, columns: [ResultColumn("daemon"), ResultColumn("value")],
      rows: document.rows.map { [ResultCell.text($0.0), .text($0.1)] })
  }
}

extension StatusDocument {
  fileprivate var rows: [(String, String)] {
    var rows = [("role", roleText), ("ready", isReady ? "yes" : notReady.joined(separator: "; "))]
    rows.append(("up", "\(duration(uptimeSeconds)), version \(version)"))
    if let market = engine?.market { rows.append(("market", market)) }
    if !staleLoops.isEmpty {
      rows.append(("no progress", staleLoops.joined(separator: ", ")))
    }
    rows += sources.map { ("\($0.source) \($0.endpoint)", $0.sentence) }
    if let engine { rows += engine.rows(storeTrouble) }
    if let journal { rows.append(("journal", journal.sentence)) }
    if let reload { rows.append(("last reload", reload.sentence)) }
    rows.append(("memory", "\(residentMemoryBytes >> 20) MiB"))
    return rows
  }

  private var roleText: String {
    if let leader { return "\(role) behind \(leader)" }
    return term.map { "\(role), term \($0)" } ?? role
  }
}

extension StatusDocument.Source {
  fileprivate var sentence: String {
    let late = stalenessSeconds.map { ", \($0) s behind (limit \(limitSeconds ?? 0) s)" } ?? ""
    let session = isInSession.map { $0 ? "" : ", out of session" } ?? ""
    let fault = fault.map { ": " + $0.sentence } ?? ""
    return "\(state)\(late)\(session), \(counted(requests, "request")), "
      + "\(counted(failures, "failure"))\(fault)"
  }
}

extension StatusDocument.Engine {
  fileprivate func rows(_ storeTrouble: String?) -> [(String, String)] {
    let lag = lagMilliseconds.map { ", lag \($0) ms" } ?? ""
    let duration = commitMilliseconds.map { ", the last in \($0) ms" } ?? ""
    var rows = [
      ("sweeps", "\(sweeps) over \(counted(symbols, "symbol"))"),
      ("commits", "\(commits)\(duration)\(lag)"),
      ("store", "\(storeTrouble ?? "ok"), \(counted(pendingCandles, "candle")) pending"),
    ]
    if isCatchingUp {
      rows.append(("catching up", counted(backlogEntries, "entry", "entries") + " to go"))
    }
    if let journalFault { rows.append(("journal cannot be written", journalFault)) }
    if keysParked > 0 { rows.append(("keys parked", "\(keysParked)")) }
    if isCertificateOverdue { rows.append(("certificate", "overdue")) }
    return rows
  }
}

extension StatusDocument.Journal {
  fileprivate var sentence: String {
    "entry \(position ?? 0), committed \(committedPosition ?? 0), "
      + "\(bytes >> 20) MiB in \(counted(segments, "file")), \(diskFreeBytes >> 30) GiB free"
  }
}

extension StatusDocument.Reload {
  fileprivate var sentence: String {
    let rest = needsRestart.joined(separator: ", ")
    return (isAccepted ? "accepted" : "refused: \(problem ?? "")") + " at \(at)"
      + (rest.isEmpty ? "" : "; after a restart: \(rest)")
  }
}

private func duration(_ seconds: Int64) -> String {
  let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
  if days > 0 { return "\(days) d \(hours) h" }
  if hours > 0 { return "\(hours) h \(minutes) min" }
  return minutes > 0 ? "\(minutes) min" : "\(seconds) s"
}
