import Foundation
import Platform
import TestSupport

/// The page in two browsers through whole market days: their heaps must not grow. In one screens
/// come and go, the other stays on a stock's.
package struct PageHeapTrial {
  package var binary: String
  package var instruments: Int
  package var seed: UInt64
  /// Simulated, from before the opening: 31 end behind the second day's close.
  package var hours: Int
  package var speed: Int

  /// Of the market, after which the heap is compared.
  private static let warmHours = 1.0
  /// What a browser takes to start and to end, real seconds.
  private static let secondsMore = 300

  package init(binary: String, instruments: Int, seed: UInt64, hours: Int, speed: Int) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
    self.hours = hours
    self.speed = speed
  }

  package func run() throws -> ChaosVerdict {
    let start = TrialDay.start
    let pair = try GatewayPair(
      "page", binary: binary, gateways: 1, instruments: instruments, seed: seed,
      day: start..<start + hours * 3600, days: (start / 3600 + hours) / 24 + 1)
    defer { pair.end() }
    try pair.open()
    try pair.startDaemon(speed: speed)
    let outcomes = Locked<[Result<PythonScript.Outcome, any Error>]>([])
    let port = pair.ports[0]
    let browsers = [[], ["--stay"]].map { options in
      Thread { [self] in
        let outcome = Result { try measure(options, port: port) }
        outcomes.withLock { $0.append(outcome) }
      }
    }
    for browser in browsers { browser.start() }
    while outcomes.withLock({ $0.count }) < browsers.count { usleep(100_000) }
    var verdict = ChaosVerdict(figures: ["\(hours) h at \(speed)×, \(instruments) instruments"])
    if !pair.isDaemonRunning { verdict.complaints.append("the day ended before the browsers") }
    for outcome in try outcomes.withLock({ $0 }).map({ try $0.get() }) {
      verdict.figures += outcome.output.split(separator: "\n").map(String.init)
      if outcome.status != 0 { verdict.complaints.append("a browser's heap grew, or it failed") }
    }
    return verdict
  }

  private func measure(_ options: [String], port: UInt16) throws -> PythonScript.Outcome {
    let seconds = hours * 3600 / speed
    // The day goes on while a browser starts.
    let minutes = Double(seconds) / 60 - 1
    return try PythonScript.run(
      "Tests/Page/measure.py",
      [
        "heap", "--check", "--minutes", "\(minutes)", "--warm",
        "\(Self.warmHours * 60 / Double(speed))",
      ]
        + options,
      by: .debian, environment: ["CANDLED_GATEWAY_PORT": "\(port)"],
      secondsMax: seconds + Self.secondsMore)
  }
}
