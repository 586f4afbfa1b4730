import ExchangeSimulator
import Foundation
import Glibc
import Ledgers
import Market
import TestExchange
import TestSupport
import TestTraits
import Testing

/// The built binary beside a simulated market over lunch, so that its output is the same each time.
@Suite(.ownThread) struct `candled doctor` {
  private static let licence = "CANARY+licence=7f3a99"

  private static func run(
    _ arguments: [String] = [], server: String, tencent: String? = nil,
    settings: [String] = [], folder: String? = nil
  ) throws -> BuiltBinary.Run {
    let state = try folder ?? PrivateCluster.freshDirectory() + "/state"
    let hosts =
      [
        "sina.base", "sina.history_base", "sina.list_base", "sina.reference_base",
      ].map { "\($0)=\(server)" } + ["tencent.base=\(tencent ?? server)"]
    let all =
      hosts + settings + [
        "sina.history_requests_per_minute=60000", "quotes.deadline=1m", "clock.mode=scaled",
        "clock.start=2026-07-06T12:10:00+08:00", "state_directory=\(state)",
      ]
    return try BuiltBinary.run(
      ["doctor", "--config", "/dev/null"] + arguments + all.flatMap { ["--set", $0] })
  }

  private static func exchange(
    instruments: Int
  ) throws -> (server: ExchangeServer, symbols: String) {
    let day = try #require(TradingDay("2026-07-06"))
    let market = SimulatedMarket(seed: 7, day: day, instruments: instruments)
    let symbols = market.symbols.prefix(100).map(\.description).joined(separator: ",")
    return (try ExchangeServer(market: market), "quotes.symbols=\(symbols)")
  }

  private static func licenceFile() throws -> String {
    let path = try PrivateCluster.freshDirectory() + "/licence"
    let file = open(path, O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    #expect(write(file, licence, licence.utf8.count) == licence.utf8.count)
    return path
  }

  @Test func `finds nothing wrong with a whole market, in at most 15 requests`() throws {
    let (server, symbols) = try Self.exchange(instruments: SimulatedMarket.instrumentsDefault)
    defer { server.stop() }
    // Lives through the morning of a whole market first, for quotes and for bars: either may take
    // longer than doctor waits.
    let day = try #require(TradingDay("2026-07-06"))
    let noon = Timestamp(day: day, secondOfDay: 12 * 3_600 + 600)
    _ = try Endpoint(port: server.port).get("/rn=\(noon.microseconds / 1_000)&list=sh600000")
    _ = server.trueLedger(on: day, until: noon)
    let before = server.requestsAnswered
    let run = try Self.run(server: server.url, settings: [symbols])
    #expect(run.status == 0, "\(run.errors)")
    Golden.expect(run.output, matches: "doctor-sound.txt")
    #expect(server.requestsAnswered - before <= 15)
  }

  @Test func `names what is broken and what to do, and writes nothing`() throws {
    let (server, symbols) = try Self.exchange(instruments: 120)
    defer { server.stop() }
    let echo = try EchoServer()
    defer { echo.stop() }
    let folder = try PrivateCluster.freshDirectory() + "/state"
    let run = try Self.run(
      server: server.url, tencent: echo.url, settings: [symbols], folder: folder)
    #expect(run.status == 65, "\(run.errors)")
    #expect(run.output.contains("broken     refused as"))
    #expect(run.output.contains("(HTTP status 404)"))
    #expect(run.output.contains("send a report with --bundle."))
    #expect(access(folder, F_OK) != 0)
    let json = try Self.run(["--json"], server: server.url, settings: [symbols])
    let verdicts = try Parsed.lines(json.output).compactMap { $0["verdict"] as? String }
    #expect(Set(verdicts).isSuperset(of: ["ok", "not tried"]))
  }

  @Test func `says which host cannot be reached, once`() throws {
    let run = try Self.run(["--source", "sina"], server: "http://127.0.0.1:1")
    #expect(run.status == 69)
    #expect(
      run.output.contains(
        "No response from sina: 127.0.0.1: the connection was refused (setting sina.base)"))
    #expect(run.output.components(separatedBy: "(setting sina.base)").count == 2)
  }

  @Test func `leaves out a source without a key, unless it is named`() throws {
    let run = try Self.run(["--source", "mairui"], server: "http://127.0.0.1:1")
    #expect(run.status == 78 && run.output.isEmpty)
    #expect(run.errors.contains("mairui has no licence: set mairui.licence_file"))
    let all = try Self.run(server: "http://127.0.0.1:1")
    #expect(all.output.contains("no licence: set mairui.licence_file"))
    #expect(try Self.run(["--source", "nasdaq"], server: "http://127.0.0.1:1").status == 64)
  }

  @Test func `writes what came back into a new file, without the key`() throws {
    let echo = try EchoServer()
    defer { echo.stop() }
    let settings = [
      "mairui.licence_file=\(try Self.licenceFile())", "mairui.bases=\(echo.url)",
    ]
    let bundle = try PrivateCluster.freshDirectory() + "/report.jsonl"
    let arguments = ["--source", "mairui", "--bundle", bundle]
    let run = try Self.run(arguments, server: echo.url, settings: settings)
    #expect(run.status == 65, "\(run.errors)")
    let text = try String(contentsOfFile: bundle, encoding: .utf8)
    let lines = try Parsed.lines(text)
    #expect(lines.contains { ($0["body"] as? String)?.contains("GET /") == true })
    let forms = [
      Self.licence, "CANARY%2Blicence%3D7f3a99",
      String(Data(Self.licence.utf8).base64EncodedString().prefix(20)),
    ]
    for form in forms { #expect(!(text + run.output + run.errors).contains(form)) }
    #expect(echo.heads().joined().contains("CANARY%2Blicence%3D7f3a99"))
    let asked = echo.heads().count
    let again = try Self.run(arguments, server: echo.url, settings: settings)
    #expect(again.status == 73 && again.errors.contains("File exists"), "\(again.errors)")
    #expect(echo.heads().count == asked)
  }
}
