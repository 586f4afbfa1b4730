import ExchangeSimulator
import Market

/// Mairui's lists, with licences and quotas: `/hslt/list/<licence>` (Shanghai and Shenzhen) and
/// `/bj/list/all/<licence>`.
///
/// Every request counts against its licence before anything else happens to it. The rows come in no
/// order, and their names are those of the day.
package struct LicensedMairui: UpstreamProtocol {
  private let options: MairuiOptions
  package private(set) var ledger = MairuiLedger()

  package init(_ options: MairuiOptions = MairuiOptions()) { self.options = options }

  package mutating func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    let target = RequestTarget(request.target)
    guard let (list, licence) = LicensedMairui.listRequest(target.path) else { return nil }
    let moment = exchange.moment(requested: target.milliseconds)
    let uses = ledger.count(licence, on: moment.shanghaiDay)
    let faults = exchange.faults(on: .mairui, at: moment, symbols: []) as? ActiveFaults
    if let refused = faults?.refusal { return refused }
    switch options.licences[licence] {
    case nil: return SimulatedResponse(.mairuiInvalid)
    case .expired: return SimulatedResponse(.mairuiExpired)
    case .valid(let limit) where uses > limit:
      ledger.refused()
      return SimulatedResponse(options.exhausted)
    case .demonstration:
      return response(
        [MairuiRow(code: "000001", exchange: .shenzhen, name: Array("平安银行".utf8))],
        faults: faults)
    case .valid: break
    }
    let observers = exchange.observers
    let rows = exchange.timeline.show(at: moment, watchedBy: observers) { [options] market in
      MairuiRow.rows(
        of: market, list: list, rowsMin: options.rowsMin, beijingRowsMin: options.beijingRowsMin)
    }
    return response(rows, faults: faults)
  }

  enum List { case mainland, beijing }

  private static func listRequest(_ path: Substring) -> (List, licence: String)? {
    let lists: [(String, List)] = [("/hslt/list/", .mainland), ("/bj/list/all/", .beijing)]
    for (prefix, list) in lists where path.hasPrefix(prefix) {
      return (list, RequestTarget.unescaped(path.dropFirst(prefix.count)))
    }
    return nil
  }

  private func response(_ rows: [MairuiRow], faults: ActiveFaults?) -> SimulatedResponse {
    let texts = rows.prefix(faults?.rowsMax ?? .max).enumerated().flatMap { number, row in
      row.texts(options.shape, struckBy: faults?.kind(strikingRow: number))
    }
    let body =
      Array("[".utf8) + Array(texts.joined(separator: [UInt8(ascii: ",")])) + Array("]".utf8)
    return SimulatedResponse.json(body).suffering(faults)
  }
}

extension MairuiRow {
  fileprivate func texts(
    _ shape: MairuiOptions.Shape, struckBy fault: Fault.Kind?
  ) -> [[UInt8]] {
    var row = self
    var board = exchange.prefix
    switch fault {
    case .missingRow: return []
    case .notANumber: row.code = "60A0" + code.suffix(2)
    case .brokenName: row.name = [0xFF] + name.dropFirst()
    case .wrongExchange: board = exchange == .shanghai ? "sz" : "sh"
    case .garbageRow: return [Array("{\"dm\":".utf8)]
    default: break
    }
    let text =
      switch shape {
      case .bare: row.object(code: row.code, board: board)
      case .suffixed:
        row.object(
          code: row.code + "." + exchange.prefix.uppercased(), board: board.uppercased())
      }
    return fault == .duplicateRow ? [text, text] : [text]
  }
}
