import CPostgres
import Glibc
import Market
import Platform

/// From a connection string to a connection that can be trusted, or a sentence that says what to
/// do.
///
/// On TCP the server must prove who it is (`sslmode=verify-full`) unless the string, `PGSSLMODE` or
/// a service says otherwise; on a Unix socket libpq has no use for TLS and ignores both settings.
/// libpq reads passwords from the string, `PGPASSWORD`, and `~/.pgpass` or `PGPASSFILE` by itself.
extension PostgresConnection {
  static let connectSecondsMax = 10
  /// After that long without an acknowledgement a TCP connection counts as dead.
  static let unacknowledgedMillisecondsMax = 10_000

  /// Debian's bundle of authorities. libpq 15 knows no `sslrootcert=system`.
  private static let authoritiesFile = "/etc/ssl/certs/ca-certificates.crt"

  /// A host that takes connections and says nothing, as a frozen one does, is left out in the next
  /// turn: libpq goes on to another host only where one refuses.
  /// - Throws: `connectionLost`, `operatorNeeded`, `badAddress`.
  static func open(
    url: String, application: String, unacknowledgedMilliseconds: Int
  ) throws(StoreError) -> OpaquePointer {
    let given = AddressOptions(url)
    let turns = given?.hostTurns ?? []
    for turn in turns.indices.dropLast() {
      do throws(StoreError) {
        return try open(
          url: url, given: given, hosts: turns[turn], application: application,
          unacknowledgedMilliseconds: unacknowledgedMilliseconds)
      } catch {
        guard error.message.hasPrefix(silent) else { throw error }
      }
    }
    return try open(
      url: url, given: given, hosts: turns.last ?? [], application: application,
      unacknowledgedMilliseconds: unacknowledgedMilliseconds)
  }

  private static let silent = "PostgreSQL does not respond"

  /// - Parameter hosts: settings instead of those in the string.
  private static func open(
    url: String, given: AddressOptions?, hosts: [(String, String)], application: String,
    unacknowledgedMilliseconds: Int
  ) throws(StoreError) -> OpaquePointer {
    if given == nil, url.contains("=") || url.contains("://") {
      throw StoreError(
        .badAddress, message: "the connection string cannot be parsed",
        context: StoreError.connecting)
    }
    let settings =
      [("application_name", application), ("client_encoding", "UTF8")]
      + keepalive(unacknowledgedMilliseconds) + trust(beside: given ?? AddressOptions())
      + [("dbname", url)] + hosts
    let started = withCStrings(settings.map(\.0)) { keywords in
      withCStrings(settings.map(\.1)) { values in PQconnectStartParams(keywords, values, 1) }
    }
    guard let handle = started else {
      throw StoreError(.connectionLost, message: "out of memory", context: StoreError.connecting)
    }
    // Before anybody was asked: what it says may be about the string alone.
    if PQstatus(handle) == CONNECTION_BAD,
      let complaint = AddressComplaint.sentence(for: String(cString: PQerrorMessage(handle)))
    {
      PQfinish(handle)
      throw StoreError(.badAddress, message: complaint, context: StoreError.connecting)
    }
    // The only way libpq 15 tells why a server said no, whatever language it says it in.
    PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    let limit = given?["connect_timeout"] ?? environment("PGCONNECT_TIMEOUT")
    let seconds = limit.flatMap { Int($0) } ?? connectSecondsMax
    if let failure = finish(handle, within: seconds) {
      PQfinish(handle)
      throw failure
    }
    PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    return handle
  }

  /// What is sent must be acknowledged within the bound, and so must be, while an answer is waited
  /// for, the probes: a server that vanished with the statement in its hands has acknowledged it.
  /// libpq leaves Unix sockets alone. Probes go by whole seconds.
  private static func keepalive(_ milliseconds: Int) -> [(String, String)] {
    let idleSeconds = max(milliseconds / 2_000, 1)
    return [
      ("tcp_user_timeout", String(milliseconds)),
      ("keepalives", "1"),
      ("keepalives_idle", String(idleSeconds)),
      ("keepalives_interval", "1"),
      ("keepalives_count", String(max(milliseconds / 1_000 - idleSeconds, 1))),
    ]
  }

  /// Of two settings of one name libpq takes the later: those in the string win over these.
  private static func trust(beside given: AddressOptions) -> [(String, String)] {
    var settings: [(String, String)] = []
    let isService = given["service"] != nil || getenv("PGSERVICE") != nil
    var mode = given["sslmode"] ?? environment("PGSSLMODE")
    if mode == nil, !isService {
      mode = "verify-full"
      settings.append(("sslmode", "verify-full"))
    }
    let isNamed = given["sslrootcert"] != nil || getenv("PGSSLROOTCERT") != nil
    let own = environment("HOME").map { $0 + "/.postgresql/root.crt" }
    // With any other mode a file of authorities would turn verifying on.
    if let mode, mode.hasPrefix("verify-"), !isNamed, own.map({ access($0, R_OK) != 0 }) ?? true {
      settings.append(("sslrootcert", authoritiesFile))
    }
    return settings
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// libpq's own loop, but for the time-out, which it keeps to itself.
  /// - Parameter seconds: as libpq counts them: none where it is 0 or less.
  /// - Returns: why there is no connection; nil if there is.
  private static func finish(_ handle: OpaquePointer, within seconds: Int) -> StoreError? {
    let deadline =
      seconds > 0
      ? MonotonicClock.microseconds() + Int64(clamping: seconds) * 1_000_000 : Int64.max
    var state = PGRES_POLLING_WRITING
    while PQstatus(handle) != CONNECTION_BAD {
      let direction = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
      var descriptor = pollfd(fd: PQsocket(handle), events: Int16(direction), revents: 0)
      let left = deadline - MonotonicClock.microseconds()
      if left <= 0 {
        return StoreError(
          .connectionLost, message: "\(silent) within \(seconds) s",
          context: StoreError.connecting)
      }
      if poll(&descriptor, 1, Int32(clamping: left / 1_000 + 1)) <= 0 { continue }
      state = PQconnectPoll(handle)
      if state == PGRES_POLLING_OK { return nil }
      if state == PGRES_POLLING_FAILED { break }
    }
    return refusal(String(cString: PQerrorMessage(handle)))
  }
}

// MARK: - Reasons

extension PostgresConnection {
  /// libpq's text may repeat the address: only what is behind the last colon of a line is passed
  /// on, or a sentence of ours.
  static func refusal(_ text: String) -> StoreError {
    if let advice = advice(text) {
      return StoreError(.operatorNeeded, message: advice, context: StoreError.connecting)
    }
    let lines = text.split(separator: "\n")
    for line in lines {
      guard let (state, message) = stateAndMessage(line) else { continue }
      let code = StoreError.code(forSQLState: state)
      return StoreError(
        code == .operatorNeeded ? code : .connectionLost, message: "PostgreSQL reports: \(message)",
        sqlState: state, context: StoreError.connecting)
    }
    let asked = lines.first { AddressComplaint.sentence(forLine: $0) == nil }
    let reason = asked?.split(separator: ":").last?.drop { $0 == " " } ?? "no response"
    return StoreError(
      .connectionLost, message: "cannot reach PostgreSQL: \(reason)", context: StoreError.connecting
    )
  }

  /// `… FATAL:  28P01: password authentication failed for user "x"`
  private static func stateAndMessage(_ line: Substring) -> (state: String, message: Substring)? {
    guard let severity = line.range(of: "FATAL:  ") ?? line.range(of: "ERROR:  ") else {
      return nil
    }
    let rest = line[severity.upperBound...]
    guard let colon = rest.firstIndex(of: ":"), rest[..<colon].utf8.count == 5 else { return nil }
    return (String(rest[..<colon]), rest[rest.index(after: colon)...].drop { $0 == " " })
  }

  /// What libpq says of TLS (it speaks English here: no locale is set), and what to do about it.
  private static func advice(_ text: String) -> String? {
    if text.contains("does not match host name") || text.contains("no matching names") {
      return "the server's certificate is for another name: use that name in store.url, or have a "
        + "certificate made for this one"
    }
    if text.contains("certificate verify failed") {
      return "the server's certificate is signed by an unknown authority: set the file of "
        + "its authority with sslrootcert=FILE in store.url"
    }
    if text.contains("root certificate file") {
      return "the file of certificate authorities does not exist: install ca-certificates, or set "
        + "sslrootcert=FILE in store.url"
    }
    if text.contains("server does not support SSL") {
      return "the server offers no TLS: turn on ssl there or, on a trusted network, set "
        + "sslmode=disable in store.url"
    }
    return nil
  }
}

extension Substring {
  fileprivate func range(of part: String) -> Range<Index>? {
    self.ranges(of: part).first
  }
}

/// The options of a connection string, by libpq's keywords.
package struct AddressOptions {
  /// All there are.
  static let keywords: [String] = {
    guard let defaults = PQconndefaults() else { return [] }
    return taking(defaults).map(\.keyword)
  }()

  private(set) var values: [(keyword: String, value: String)] = []

  init() {}

  /// nil where libpq cannot parse it.
  init?(_ address: String) {
    guard let parsed = PQconninfoParse(address, nil) else { return nil }
    for (keyword, value) in Self.taking(parsed) {
      if let value { values.append((keyword, value)) }
    }
  }

  /// What a list of libpq's holds; frees it.
  private static func taking(
    _ list: UnsafeMutablePointer<PQconninfoOption>
  ) -> [(keyword: String, value: String?)] {
    defer { PQconninfoFree(list) }
    var (options, next) = ([(keyword: String, value: String?)](), list)
    while let keyword = next.pointee.keyword {
      options.append((String(cString: keyword), next.pointee.val.map { String(cString: $0) }))
      next += 1
    }
    return options
  }

  subscript(_ keyword: String) -> String? { values.last { $0.keyword == keyword }?.value }

  /// Its hosts in their order, and then from each of the others on, as settings; none for one host.
  var hostTurns: [[(String, String)]] {
    let lists = ["host", "hostaddr", "port"].compactMap { keyword in
      self[keyword].map { text in
        (keyword, text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
      }
    }
    let count = lists.map(\.1.count).max() ?? 0
    if count < 2 { return [] }
    return (0..<count).map { turn in
      lists.map { keyword, values in
        // One port serves all hosts.
        let start = values.count == count ? turn : 0
        return (keyword, (values[start...] + values[..<start]).joined(separator: ","))
      }
    }
  }
}

/// Connection strings made of parts.
package enum StoreAddress {
  /// The address with a password that is kept elsewhere; as it was where it cannot be understood.
  package static func joining(_ url: String, password: String) -> String {
    guard let options = AddressOptions(url) else { return url }
    return (options.values + [(keyword: "password", value: password)])
      .map { "\($0.keyword)=\(quoted($0.value))" }
      .joined(separator: " ")
  }

  /// Quotes a value of a libpq connection string, if it needs it.
  package static func quoted(_ value: String) -> String {
    let isPlain = !value.isEmpty && value.utf8.allSatisfy(Self.isPlain)
    if isPlain { return value }
    let escaped = value.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
    return "'\(escaped)'"
  }

  package static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
