import Glibc
import Market
import Testing

/// Answers of Mairui and Alpaca in, what is decoded of them out. `CANDLED_RECORD=1 swift test
/// --filter ResponseGoldenTests` writes the golden files anew: read the difference before
/// committing it.
@Suite struct ResponseGoldenTests {
  enum Kind: Sendable {
    case mairuiList
    case alpacaBars(Timeframe)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let fixture: String
    var kind: Kind
    var status = 200
    var isRefused = false

    var testDescription: String { "\(fixture), \(kind), status \(status)" }

    var golden: String {
      let tail =
        switch kind {
        case .mairuiList: "mairui-list"
        case .alpacaBars(.minute1): "alpaca-bars"
        case .alpacaBars(let timeframe): "alpaca-bars.\(timeframe.name)"
        }
      return "\(Files.golden)/\(fixture).\(tail).\(status).jsonl"
    }
  }

  static let lists =
    ["mairui-bare.json", "mairui-suffixed.json", "mairui-faults.json"].map {
      Case(fixture: $0, kind: .mairuiList)
    }
    + [
      ("mairui-quota-bare.txt", 200), ("mairui-quota-nine.txt", 200),
      ("mairui-quota-text.txt", 200), ("mairui-quota-code.json", 200),
      ("mairui-licence-code.json", 200), ("mairui-licence-detail.json", 403),
      ("mairui-addresses.json", 429), ("mairui-not-found.txt", 200), ("mairui-no-data.json", 200),
      ("mairui-empty.json", 200), ("mairui-cut.json", 200), ("mairui-other.json", 200),
      ("page.html", 200), ("page.html", 404), ("page.html", 502), ("page.html", 503),
      ("mairui-bare.json", 500),
    ].map { Case(fixture: $0.0, kind: .mairuiList, status: $0.1, isRefused: true) }

  static let bars =
    [
      ("alpaca-multi.json", Timeframe.minute1), ("alpaca-multi.json", .minute5),
      ("alpaca-days.json", .day1), ("alpaca-days.json", .week1), ("alpaca-days.json", .month1),
      ("alpaca-faults.json", .minute1), ("alpaca-empty.json", .minute1),
      ("alpaca-null.json", .minute1), ("alpaca-absent.json", .minute1),
    ].map { Case(fixture: $0.0, kind: .alpacaBars($0.1)) }
    + [
      ("alpaca-cut.json", 200), ("alpaca-snapshot.json", 200), ("page.html", 401),
      ("page.html", 504), ("page.html", 200), ("alpaca-invalid-symbol.json", 400),
      ("alpaca-end-before-start.json", 400), ("alpaca-recent-sip.json", 403),
      ("alpaca-recent-code.json", 403), ("alpaca-forbidden.json", 403),
      ("alpaca-too-many.json", 429), ("alpaca-internal.json", 500), ("alpaca-multi.json", 500),
    ].map { Case(fixture: $0.0, kind: .alpacaBars(.minute1), status: $0.1, isRefused: true) }

  @Test(arguments: lists + bars)
  func `an answer prints what its golden file holds`(_ golden: Case) throws {
    let body = try Files.fixture(golden.fixture)
    let printed = body.withUnsafeBytes { body in
      switch golden.kind {
      case .mairuiList: ResponseLines.mairuiList(body, status: golden.status)
      case .alpacaBars(let timeframe):
        ResponseLines.alpacaBars(
          body, status: golden.status, timeframe: timeframe, requested: ["OAKX", "PINE.B"])
      }
    }
    #expect(printed.isRefused == golden.isRefused)
    let text = printed.lines.map { $0 + "\n" }.joined()
    if getenv("CANDLED_RECORD") != nil {
      #expect(Files.write(text, to: golden.golden))
      return
    }
    let expected = Files.read(golden.golden).map { String(decoding: $0, as: UTF8.self) }
    #expect(text == expected)
  }
}
