import ExchangeSimulator
import Market

/// What a test may choose about the simulated Mairui: its licences, its manners and its size.
package struct MairuiOptions: Sendable {
  /// The two forms the list has been seen in (docs/sources/mairui.md#lists).
  package enum Shape: Sendable {
    /// `{"dm":"000001","mc":"…","jys":"sz"}`
    case bare
    /// `{"dm":"000001.SZ","mc":"…","jys":"SZ"}`
    case suffixed
  }

  package enum Licence: Sendable, Hashable {
    /// So many requests on a Shanghai day, refused ones included.
    case valid(requestsPerDay: Int)
    /// The public demonstration licence: it is answered with 000001 and nothing else.
    case demonstration
    /// Code 102.
    case expired
  }

  /// Any other licence is invalid.
  package var licences: [String: Licence] = [:]
  package var shape = Shape.suffixed
  /// Invented shares are added up to so many rows of `/hslt/list` and `/bj/list/all`; 0 for none.
  package var rowsMin = 4_800
  package var beijingRowsMin = 270
  /// What a licence hears that has used up its day.
  package var exhausted = CannedResponse.mairuiQuotaText

  package init(licences: [String: Licence] = [:]) { self.licences = licences }
}

/// Who asked Mairui how often: the judge of whoever keeps keys.
package struct MairuiLedger: Sendable {
  private var counts: [String: [TradingDay: Int]] = [:]
  /// Requests that were refused because the licence's day was used up.
  package private(set) var refusals = 0

  package init() {}

  /// All requests with a licence on a Shanghai day, whatever the answer.
  package func requests(_ licence: String, on day: TradingDay) -> Int {
    counts[licence]?[day] ?? 0
  }

  /// Every licence that was ever sent, also invalid ones.
  package var licences: [String] { counts.keys.sorted() }

  /// - Returns: how many it has been on that day.
  mutating func count(_ licence: String, on day: TradingDay) -> Int {
    counts[licence, default: [:]][day, default: 0] += 1
    return requests(licence, on: day)
  }

  mutating func refused() { refusals += 1 }
}

extension UpstreamName {
  package static let mairui = UpstreamName("mairui")
}

/// The ways Mairui says no (docs/sources/mairui.md#refusals).
extension CannedResponse {
  /// 200 `101`
  package static let mairuiQuotaBare = CannedResponse(status: 200, body: "101")
  /// 200 `9`
  package static let mairuiQuotaNine = CannedResponse(status: 200, body: "9")
  package static let mairuiQuotaText = CannedResponse(
    status: 200, body: "101:Licence证书当日次数已超出", contentType: "text/plain; charset=utf-8")
  package static let mairuiQuotaJSON = CannedResponse(
    status: 200, body: #"{"code":101,"msg":"Licence证书当日次数已超出"}"#)
  package static let mairuiExpired = CannedResponse(
    status: 200, body: #"{"code":102,"msg":"Licence证书已过期"}"#)
  package static let mairuiInvalid = CannedResponse(
    status: 200, body: #"{"detail":"Licence证书无效"}"#)
  /// 429: the licence was seen from more than two addresses within a minute.
  package static let mairuiAddresses = CannedResponse(status: 429, body: #"{"code":103}"#)
  package static let mairuiNotFound = CannedResponse(
    status: 404, body: "404:资源不存在，请检查参数是否正确！", contentType: "text/plain; charset=utf-8")
  package static let mairuiOverloaded = CannedResponse(status: 503, body: #"{"code":503}"#)
  package static let emptyList = CannedResponse(status: 200, body: "[]")
}
