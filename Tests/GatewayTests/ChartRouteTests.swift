import Commits
import Foundation
import HTTPTypes
import Market
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway
@testable import Reader

@Suite(.ownThread) struct ChartRouteTests {
  private static let path = "/v1/stocks/sh600000/chart.svg"

  @Test("a picture says what it is, runs nothing, and is not sent twice")
  func headers() async throws {
    let fixture = try await ServedFixture()
    for path in [Self.path, "/newchart/min/n/sh600000.svg", "/newchart/daily/n/sh600000.gif"] {
      let reply = try await fixture.get(path)
      #expect(reply.status == 200 && reply.headers[.contentType] == "image/svg+xml")
      #expect(reply.body.hasPrefix("<svg ") && reply.body.hasSuffix("</svg>\n"))
      let policy = try #require(reply.headers[.contentSecurityPolicy])
      #expect(policy.hasPrefix("default-src 'none'") && policy.hasSuffix("sandbox"))
      #expect(reply.headers[.xContentTypeOptions] == "nosniff")
      #expect(reply.headers[.cacheControl] == "private, max-age=5")
      let tag = try #require(reply.headers[.eTag])
      let again = try await fixture.get(path, headers: [.ifNoneMatch: tag])
      #expect(again.status == 304 && again.body.isEmpty)
    }
    let packed = try await fixture.get(
      Self.path, headers: [.acceptEncoding: "gzip"], overSocket: true)
    #expect(packed.headers[.contentEncoding] == "gzip")
  }

  @Test("the arguments are the picture's size, candles and colours")
  func arguments() async throws {
    let fixture = try await ServedFixture()
    let small = try await fixture.get("\(Self.path)?width=300&height=150&theme=dark").body
    #expect(small.contains("width=\"300\" height=\"150\" viewBox=\"0 0 300 150\""))
    #expect(!small.contains("prefers-color-scheme"))
    #expect(try await fixture.get(Self.path).body.contains("prefers-color-scheme:dark"))
    let red = try await fixture.get("\(Self.path)?theme=light&rising=red").body
    let green = try await fixture.get("\(Self.path)?theme=light&rising=green").body
    #expect(red.contains(".u{stroke:#cc1f2d}") && green.contains(".u{stroke:#08783e}"))
    let hours = try await fixture.get("\(Self.path)?interval=60m").body
    #expect(hours.contains("<desc>2 candles, 2026-07-06 09:30 to 2026-07-06 10:30"))
    // Either of interval and period follows from the other.
    #expect(try await fixture.get(Self.path).body.contains(", 1m</title>"))
    #expect(try await fixture.get("\(Self.path)?period=1y").body.contains(", 1d</title>"))
    #expect(try await fixture.get("\(Self.path)?interval=1wk").body.contains(", 1w</title>"))
  }

  @Test("gaps, revisions and partial minutes are in the picture")
  func marks() async throws {
    let svg = try await ServedFixture().get(Self.path).body
    #expect(svg.contains("<title>outage</title>") && svg.contains("<title>revised</title>"))
    #expect(svg.contains("1 gap in what was seen."))
  }

  @Test("the period of a stock without a quote ends with its newest candle")
  func withoutQuote() async throws {
    let gateway = try await WholeGateway()
    let stock = "/v1/stocks/AAPL"
    let history = try await gateway.ask("\(stock)/history?period=1d&interval=1m").json
    #expect((history["rows"] as? [Any])?.count == 90)
    let svg = try await gateway.ask("\(stock)/chart.svg").body
    #expect(svg.contains("<desc>90 candles, 2026-07-03 09:00 to 2026-07-03 10:29"))
  }

  @Test("a list says whether candles were left out, and of how many")
  func thinned() async throws {
    let fixture = try await ServedFixture()
    let history = "/v1/stocks/sh600000/history?interval=1m"
    let all = try await fixture.get(history).json
    #expect(all["thinned"] as? Bool == false && all["total"] == nil)
    let picture = try await fixture.get("\(history)&points=20").json
    #expect(picture["thinned"] as? Bool == true && picture["total"] as? Int == 120)
    let whole = try await fixture.get("\(history)&points=120").json
    #expect(whole["thinned"] as? Bool == false && whole["total"] as? Int == 120)
    let none = try await fixture.get("\(history)&points=9&to=2020-01-01").json
    #expect(none["thinned"] as? Bool == false && none["total"] as? Int == 0)
  }

  @Test("one stock's answer has the epoch that its seq belongs to")
  func epoch() async throws {
    let fixture = try await ServedFixture()
    let stock = try await fixture.get("/v1/stocks/sh600000").json
    let list = try await fixture.get("/v1/stocks").json
    #expect(stock["epoch"] as? Int == list["epoch"] as? Int && stock["epoch"] as? Int ?? 0 > 0)
    #expect(stock["symbol"] as? String == "sh600000" && stock["seq"] as? Int ?? 0 > 0)
  }

  @Test("a streamed candle has the mean price that the history has, and an index has none")
  func streamedAverage() async throws {
    let fixture = try await ServedFixture()
    let path = "/v1/stocks/sh600000/history?interval=1m"
    let rows = try #require(try await fixture.get(path).json["rows"] as? [[String: Any]])
    var samples = StoreSamples(seed: 14)
    let directory = fixture.gateway.memory.state.directory
    let place = try #require(directory.place(spelling: "sh600000"))
    func average(_ candle: Candle, _ series: SeriesRecord?) throws -> String? {
      var text = JSONWriter()
      let stored = StoredCandle(candle: candle, knownFrom: candle.closedAt, revision: 0)
      text.object { $0.write(stored, state: "final", series: series) }
      let object = try JSONSerialization.jsonObject(with: Data(text.bytes)) as? [String: Any]
      return object?["vwap"] as? String
    }
    var compared = 0
    for minute in 0..<120 {
      let commit = samples.minute(minute, position: 1, instruments: 3)
      if minute == 60 { _ = samples.candle(0, minute: 30) }
      guard let candle = commit.candles.first(where: { $0.symbol == StoreSamples.symbol(0) }),
        let row = rows.first(where: {
          $0["openedAt"] as? String == directory[place].zone.text(of: candle.openedAt)
        }), row["revision"] as? Int == 0
      else { continue }
      #expect(try average(candle, directory[place]) == row["vwap"] as? String, "\(minute)")
      compared += 1
    }
    #expect(compared > 100)
    var index = directory[place]
    index.kind = InstrumentKind.index.name
    var candle = samples.candle(0, minute: 1)
    #expect(try average(candle, index) == nil)
    #expect(try average(candle, nil) != nil)
    candle.vwap = ExactDecimal(units: 12_345, scale: 4)
    #expect(try average(candle, index) == "1.2345")
  }
}
