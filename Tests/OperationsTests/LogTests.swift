import Foundation
import Glibc
import Logging
import Market
import TestSupport
import Testing

@testable import Operations

/// Collects lines instead of writing them. `@unchecked Sendable`: used by one test, on one thread.
private final class Lines: @unchecked Sendable {
  var lines: [String] = []
}

@Suite struct LogTests {
  private let lines = Lines()
  private let mask = SecretMask()

  private func logger(_ format: LogFormat, isJournal: Bool = false) -> Logger {
    let lines = lines
    let handler = LineLogHandler(
      label: "polling", control: LogControl(level: .info, format: format), mask: mask,
      isJournal: isJournal,
      now: { Timestamp(seconds: 1_783_301_400) },
      write: { lines.lines.append(String(decoding: $0, as: UTF8.self)) })
    return Logger(label: "polling") { _ in handler }
  }

  @Test func `a line of text quotes only what needs it`() {
    logger(.text).warning("no response", metadata: ["source": "sina", "reason": "a \"b\"\nc"])
    #expect(
      lines.lines == [
        "time=2026-07-06T09:30:00+08:00 level=warning logger=polling message=\"no response\" "
          + "reason=\"a \\\"b\\\"\\nc\" source=sina\n"
      ])
  }

  @Test func `a line of JSON is one object`() {
    logger(.json).error("x\u{1}y", metadata: ["n": "\(3)"])
    #expect(
      lines.lines == [
        #"{"time":"2026-07-06T09:30:00+08:00","level":"error","logger":"polling","#
          + #""message":"x\u0001y","n":"3"}"# + "\n"
      ])
  }

  @Test func `under systemd the priority stands in front and the time is left to the journal`() {
    logger(.text, isJournal: true).critical("down")
    #expect(lines.lines == ["<2>level=critical logger=polling message=down\n"])
  }

  @Test func `the journal is where the variable names the stream that stderr is`() {
    var status = stat()
    #expect(fstat(STDERR_FILENO, &status) == 0)
    let own = "\(status.st_dev):\(status.st_ino)"
    #expect(LineLogHandler.isJournal(named: own))
    logger(.text, isJournal: LineLogHandler.isJournal(named: own + "1")).critical("down")
    #expect(lines.lines.first?.hasPrefix("time=") == true)
    #expect(!LineLogHandler.isJournal(named: nil))
  }

  @Test func `a value beyond the bound is cut and the line stays whole`() {
    logger(.json).info("\(String(repeating: "股\"", count: 5_000))")
    #expect(lines.lines.first?.hasSuffix("…\"}\n") == true)
    #expect(lines.lines.first.map { $0.utf8.count < 10_000 } == true)
  }

  @Test func `a secret is masked wherever it stands, escaped or not`() {
    mask.register(Secret("p\"ss word/1"))
    logger(.json).info(
      "connect p\"ss word/1",
      metadata: ["url": "x://u:p%22ss%20word%2F1@h", "at": ["p\"ss word/1"]])
    let line = lines.lines.joined()
    #expect(!line.contains("ss word") && !line.contains("ss%20word"))
    #expect(line.contains("connect ***") && line.contains("x://u:***@h"))
  }

  @Test func `the level is a value of each logger`() {
    var quiet = logger(.text)
    let loud = quiet
    quiet.logLevel = .error
    quiet.info("no")
    loud.info("yes")
    #expect(lines.lines.count == 1)
  }
}

@Suite struct SecretTests {
  @Test func `a secret prints itself nowhere`() {
    let secret = Secret("hunter22")
    var dumped = ""
    dump([secret], to: &dumped)
    dump(["key": Optional(secret)], to: &dumped)
    let texts = ["\(secret)", String(describing: secret), String(reflecting: secret), dumped]
    for text in texts { #expect(!text.contains("hunter22")) }
    #expect(secret.reveal() == "hunter22")
  }

  @Test(arguments: [
    "aHVudGVyMjI=", "dTpodW50ZXIyMg==", "dXM6aHVudGVyMjI=", "dXNlOmh1bnRlcjIyOng=",
  ])
  func `Base64 of the secret with anything around it is masked`(_ encoded: String) {
    let mask = SecretMask()
    mask.register(Secret("hunter22"))
    let masked = mask.masked("Authorization: Basic \(encoded)")
    #expect(masked.hasPrefix("Authorization: Basic "))
    #expect(masked.contains("***") && masked.utf8.count < "Authorization: Basic ".utf8.count + 14)
  }

  @Test(arguments: ["p%2Bs%2Fw%3Dd%3A1", "p%2bs%2fw%3dd%3a1", "p+s/w=d:1"])
  func `each spelling of a secret in an address is masked`(_ spelling: String) {
    let mask = SecretMask()
    mask.register(Secret("p+s/w=d:1"))
    #expect(mask.masked("GET /list/\(spelling)?x") == "GET /list/***?x")
  }

  /// The alphabet of RFC 4648 and the one of addresses, after any number of bytes.
  @Test(arguments: 0..<3, [("+", "/"), ("-", "_")])
  func `both alphabets of Base64 are masked`(_ before: Int, _ tail: (String, String)) {
    // Six ones and 111110 at every offset: + and / in each of the three readings.
    let secret = "~?>~?>\u{7f}~?>o?~>?~\u{7f}"
    let mask = SecretMask()
    mask.register(Secret(secret))
    let plain = Data(repeating: 0x75, count: before) + Data("\(secret):x".utf8)
    let text = plain.base64EncodedString()
    #expect(text.contains("+") || text.contains("/"))
    let encoded = text.replacing("+", with: tail.0).replacing("/", with: tail.1)
    let masked = mask.masked("Basic \(encoded)")
    #expect(masked.hasPrefix("Basic ") && masked.contains("***"))
    #expect(masked.utf8.count < "Basic ".utf8.count + 14, "\(masked)")
  }

  @Test func `a password among a connection URL's parameters is one`() {
    let mask = SecretMask()
    mask.register(url: Secret("postgresql:///candled?host=/run&password=h%40nter22&port=5432"))
    #expect(mask.masked("h@nter22 h%40nter22") == "*** ***")
    let key = SecretMask()
    key.register(url: Secret("postgresql://db/candled?sslpassword=hunter22#x"))
    #expect(key.masked("hunter22#x") == "***")
  }

  @Test func `a question mark does not end a password`() {
    let mask = SecretMask()
    mask.register(url: Secret("postgres://candled:what?hunter@db/candled?password=hunter22"))
    #expect(mask.masked("what?hunter hunter22 what") == "*** *** what")
  }

  @Test func `a connection URL hides its password too, decoded and not`() {
    let mask = SecretMask()
    mask.register(url: Secret("postgres://candled:h%40nter22@db:5432/candled?x=1"))
    #expect(mask.masked("h@nter22 h%40nter22") == "*** ***")
    #expect(mask.masked("to postgres://candled:h%40nter22@db:5432/candled?x=1!") == "to ***!")
    #expect(mask.masked("db:5432/candled") == "db:5432/candled")
  }

  @Test func `a secret too short to differ from a word is not masked`() {
    let mask = SecretMask()
    mask.register(Secret("abc"))
    #expect(mask.masked("abcabc") == "abcabc")
  }
}

@Suite struct ExitCodeTests {
  @Test func `exit codes are those of sysexits and each has a meaning`() {
    #expect(
      ExitCode.allCases.map(\.rawValue) == [0, 1, 64, 65, 66, 69, 70, 73, 74, 75, 77, 78])
    #expect(Set(ExitCode.allCases.map(\.meaning)).count == ExitCode.allCases.count)
  }
}
