import Foundation
import Platform
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// alpaca-py as it is on PyPI, in the version of Tests/requirements.txt.
@Suite(.ownThread) struct AlpacaPeerTests {
  @Test("alpaca-py reads bars, pages, quotes, snapshots, clock, calendar and assets")
  func rest() async throws {
    let fixture = try await AlpacaFixture()
    let names = ["sh600000": "sh600000", "600001.SH": "sh600001", "AAPL": "AAPL"]
    let rows = try names.mapValues { symbol in
      try fixture.minutes(of: symbol).map { row in row.map { $0.map { $0 as Any } ?? NSNull() } }
    }
    let json = try JSONSerialization.data(withJSONObject: rows)
    let environment = [
      "SECRET": fixture.secret, "EXPECTED": String(decoding: json, as: UTF8.self),
    ]
    let outcome = try await fixture.listen { port in
      try PythonScript.run("Tests/Peers/alpaca_rest.py", ["\(port)"], environment: environment)
    }
    #expect(outcome.status == 0 && outcome.output.contains("all calls answered"), "\(outcome)")
  }

  @Test("alpaca-py's stream gets each bar, the revised ones and the quotes of commits")
  func stream() async throws {
    let fixture = try await AlpacaFixture()
    let outcome = try await fixture.listen { port in
      let isOver = Locked(false)
      async let committing: Void = {
        for minute in AlpacaSamples.minutes..<120 where !isOver.withLock({ $0 }) {
          try await fixture.commit(minute)
          try await Task.sleep(for: .milliseconds(500))
        }
      }()
      let outcome = try await onOwnThread {
        try PythonScript.run(
          "Tests/Peers/alpaca_stream.py", ["\(port)"], environment: ["SECRET": fixture.secret])
      }
      isOver.withLock { $0 = true }
      try await committing
      return outcome
    }
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("insufficient subscription"), "\(outcome)")
    let last = outcome.output.split(separator: "\n").last ?? ""
    let received = try #require(
      try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: [String: [[Any]]]])
    for (name, symbol) in ["sh600000": "sh600000", "600001.SH": "sh600001", "AAPL": "AAPL"] {
      let stored = try fixture.minutes(of: symbol).map { row in
        row[1...5].map { $0.flatMap { Double($0) } }
      }
      let bars = try #require(received["bars"]?[name])
      #expect(bars.count >= 2)
      for bar in bars { #expect(stored.contains(bar.dropFirst().map { $0 as? Double }), "\(name)") }
    }
    #expect(received["quotes"]?.keys.sorted() == ["600001.SH"])
  }
}
