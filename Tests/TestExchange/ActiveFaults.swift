import ExchangeSimulator
import Market

/// The faults that strike one answer.
struct ActiveFaults: ResponseFaults {
  let upstream: UpstreamName
  let rowFaults: [ActiveFault]
  let bodyFaults: [ActiveFault]

  init(_ faults: [ActiveFault], on upstream: UpstreamName) {
    self.upstream = upstream
    rowFaults = faults.filter(\.kind.isAboutRows)
    bodyFaults = faults.filter { !$0.kind.isAboutRows }
  }

  /// The answer of a fault that leaves nothing of the real one.
  var refusal: SimulatedResponse? {
    for fault in bodyFaults {
      switch fault.kind {
      case .forbidden: return .text(403, "Forbidden")
      case .throttled: return .page(456, "Client Error")
      case .banPage:
        return .page(200, "你的 IP 存在异常访问(例如: 爬虫/攻击/探测 等), 已被新浪安全部门封禁.")
      case .internalError: return .page(500, "Internal Server Error")
      case .badGateway: return .page(502, "502 Bad Gateway")
      case .emptyBody: return SimulatedResponse(body: [])
      case .batchFailed: return .batchFailed
      case .garbageBody: return SimulatedResponse(body: fault.noise(bytes: 4096))
      case .reset: return Self.delivered(.wire(WireScript([.reset])))
      case .neverResponds: return Self.delivered(.wire(WireScript([.hold])))
      case .response(let canned): return SimulatedResponse(canned)
      case .wire(let script) where !script.deliversBody: return Self.delivered(.wire(script))
      default: continue
      }
    }
    return nil
  }

  private static func delivered(_ delivery: FaultyDelivery) -> SimulatedResponse {
    var response = SimulatedResponse(body: [])
    response.delivery = delivery
    return response
  }

  var rowsMax: Int {
    bodyFaults.reduce(Int.max) { rows, fault in
      if case .shortList(let count) = fault.kind { min(rows, count) } else { rows }
    }
  }

  func shown(at moment: Timestamp) -> Timestamp {
    bodyFaults.reduce(moment) { moment, fault in
      if case .staleNode(let lag) = fault.kind {
        moment.adding(seconds: -Int64(lag))
      } else {
        moment
      }
    }
  }
}

/// Bodies as a whole.
extension ActiveFaults {
  func damage(
    _ response: inout SimulatedResponse, lines: inout ServedLines, ends: [Int]
  ) -> Bool {
    for fault in bodyFaults {
      switch fault.kind {
      case .truncated(let byte):
        let end = byte ?? fault.number(below: response.body.count)
        truncate(&response.body, at: end, lines: &lines, ends: ends)
      case .utf8Names:
        response.body = GB18030.decodedToUTF8(response.body) ?? response.body
      default: deliver(&response, of: response.body.count, by: fault)
      }
    }
    if let delivery = response.delivery as? FaultyDelivery, case .cut = delivery { return false }
    return true
  }

  /// Cuts the body so that the line it hits is plainly unfinished: a cut between the closing quote
  /// and the line's end would leave it to taste whether the line still counts.
  private func truncate(
    _ body: inout [UInt8], at byte: Int, lines: inout ServedLines, ends: [Int]
  ) {
    var end = min(max(byte, 0), body.count)
    if let hit = ends.first(where: { end < $0 && end >= $0 - 2 }) { end = hit - 3 }
    body.removeLast(body.count - end)
    for (place, lineEnd) in zip(lines.places, ends) where lineEnd > end {
      lines.invalid.insert(place)
    }
  }

  func damage(_ response: inout SimulatedResponse) {
    let body = response.body
    for fault in bodyFaults {
      if case .truncated(let byte) = fault.kind {
        response.body = Array(body.prefix(byte ?? fault.number(below: body.count)))
      } else {
        deliver(&response, of: body.count, by: fault)
      }
    }
  }

  private func deliver(
    _ response: inout SimulatedResponse, of bytes: Int, by fault: ActiveFault
  ) {
    let delivery: FaultyDelivery
    switch fault.kind {
    case .slowBody(let bytesPerSecond): delivery = .slow(bytesPerSecond: bytesPerSecond)
    case .cutConnection(let byte):
      delivery = .cut(afterBytes: min(byte, max(bytes - 1, 0)))
    case .wire(let script): delivery = .wire(script)
    default: return
    }
    response.delivery = delivery
  }
}
