import EmbeddedPostgres
import Foundation
import Glibc
import Platform
import Postgres
import TestSupport

/// What one client did to a gateway and all its others, tried again on loopback: large answers that
/// nobody reads, thousands of silent connections, a broker that stands still, a start behind a
/// backfill. Each has its bar, and each ends by itself.
package struct HostileGatewayTrial {
  package var binary: String
  /// That are listed; few of them have quotes.
  package var instruments: Int
  /// That ask for the list of all instruments and read nothing.
  package var unread = 1_000
  /// That send nothing, of one address.
  package var silent = 12_100
  /// Of candles, in the changes of a backfill.
  package var backfilled = 6_000_000
  package var seed: UInt64

  private static let memoryFactorMax = 2.0
  /// Of what it was before, when all is over.
  private static let memoryBackFactorMax = 1.25
  private static let memoryBackSecondsMax = 60
  private static let answerMillisecondsMax = 1_000
  private static let brokerSecondsMax = 15
  /// Of a first quote, from the start of the process.
  private static let startMillisecondsMax: Int64 = 5_000
  /// On a machine that does other things, too, each time may be so many times as long.
  package var patience = 1
  private var answerSecondsMax: Int { 10 * patience }

  private static let quoted = 24
  /// The limit of a token is 50.
  private static let askedPerSecond = 45
  private static let silentSeconds = 15
  private static let candlesOfChange = 6_000
  private static let attacker = "cndl_" + String(repeating: "A", count: 43)
  private static let victim = "cndl_" + String(repeating: "B", count: 43)

  package init(binary: String, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
  }

  package func run(_ say: (String) -> Void) throws -> ChaosVerdict {
    let descriptors = StormClients.raiseDescriptorLimit()
    guard descriptors > silent + Self.askedPerSecond * 10 else {
      throw TrialFailure("only \(descriptors) descriptors may be open")
    }
    let pair = try GatewayPair(
      "hostile", binary: binary, gateways: 2, instruments: Self.quoted, seed: seed,
      day: TrialDay.start..<TrialDay.stop,
      limits: [
        "gateway.address_requests_per_second": "20", "gateway.user_requests_per_second": "50",
      ])
    defer { pair.end() }
    try prepare(pair)
    try pair.open()
    try pair.startDaemon(speed: 1)
    var verdict = ChaosVerdict()
    let symbol = try text("select symbol from candled.latest order by 1 limit 1", pair)
    for part in [readNothing, saySilence, stopBroker, startBehindBackfill] {
      let before = verdict.figures.count
      try part(pair, "/v1/stocks/\(symbol)", &verdict)
      for line in verdict.figures[before...] { say(line) }
    }
    return verdict
  }

  /// Tokens, and accounts with money.
  private func prepare(_ pair: GatewayPair) throws {
    try SQLProbe.run(
      """
      insert into candled_app.app_user (name) values ('attacker'), ('victim');
      insert into candled_app.token (user_id, name, scopes, hash)
      select u.id, 'trial', array['market', 'account', 'trade'], sha256(k.secret::bytea)
      from candled_app.app_user u
      join (values ('attacker', '\(Self.attacker)'), ('victim', '\(Self.victim)')) k (name, secret)
        on k.name = u.name
      """, url: pair.world.url)
  }

  // MARK: Answers that nobody reads

  private func readNothing(
    _ pair: GatewayPair, quote: String, to verdict: inout ChaosVerdict
  ) throws {
    // Listed, without a quote: what makes the list long.
    try SQLProbe.run(
      """
      insert into candled.instrument (id, symbol, source, exchange, kind, board, name, first_seen)
      select m.id + n, 'sh' || 100000 + n, m.source, m.exchange, m.kind, m.board, 'listed ' || n,
        m.first_seen
      from generate_series(1, \(instruments)) n
      cross join (select * from candled.instrument order by id desc limit 1) m
      """, url: pair.world.url)
    try pair.kill(gateway: 0, downMicroseconds: 0)
    try pair.wait(forGateway: 0)
    let (gateway, port) = (pair.gateways[0], pair.ports[0])
    var listBytes = 0
    for _ in 0..<20 { listBytes = answer("/v2/assets", as: Self.attacker, port)?.count ?? 0 }
    let before = ProcessProbe(gateway.pid)?.mebibytes ?? 0
    let watch = AnswerWatch(
      quote, headers: "Authorization: Bearer \(Self.victim)\r\n", port: port,
      secondsMax: answerSecondsMax)
    let clients = StormClients(port: port, connectionsOfAddressMax: .max)
    let request = Self.request("/v2/assets", as: Self.attacker)
    var peak = before
    for number in 1...unread {
      if clients.open(1) > 0 { throw TrialFailure("a connection was not opened") }
      clients.send { $0.step == 0 ? request : nil }
      usleep(useconds_t(1_000_000 / Self.askedPerSecond))
      if number % 5 == 0 { peak = max(peak, ProcessProbe(gateway.pid)?.mebibytes ?? 0) }
    }
    let ended = MonotonicClock.milliseconds()
    var (after, seconds) = (peak, 0)
    while seconds <= Self.memoryBackSecondsMax {
      after = ProcessProbe(gateway.pid)?.mebibytes ?? 0
      peak = max(peak, after)
      seconds = Int(MonotonicClock.milliseconds() - ended) / 1_000
      if seconds > 1, after <= before * Self.memoryBackFactorMax { break }
      usleep(200_000)
    }
    let answers = watch.stop()
    clients.close()
    verdict.figures.append(
      "\(unread) lists of \(listBytes >> 10) KiB unread: \(Int(before)) MiB before, \(Int(peak)) "
        + "at most (bar \(Int(before * Self.memoryFactorMax))), \(Int(after)) after \(seconds) s "
        + "(bar \(Int(before * Self.memoryBackFactorMax)) within \(Self.memoryBackSecondsMax)); "
        + Self.words(for: answers))
    if peak > before * Self.memoryFactorMax { verdict.complaints.append("memory grew to \(peak)") }
    if after > before * Self.memoryBackFactorMax {
      verdict.complaints.append("memory stays at \(after) MiB")
    }
    judge(answers, "while lists were not read", &verdict)
    // The list is short again for what follows.
    try SQLProbe.run(
      "delete from candled.instrument where name like 'listed %'", url: pair.world.url)
  }

  // MARK: Silence

  private func saySilence(
    _ pair: GatewayPair, quote: String, to verdict: inout ChaosVerdict
  ) throws {
    let port = pair.ports[0]
    let clients = StormClients(port: port, connectionsOfAddressMax: .max)
    // Of the same address as they, and ten a second: below the limit of requests.
    let watch = AnswerWatch(quote, port: port, secondsMax: answerSecondsMax)
    let failed = clients.open(silent)
    usleep(useconds_t(Self.silentSeconds) * 1_000_000)
    let answers = watch.stop()
    let open = Int(metric("candled_gateway_connections", port) ?? -1)
    clients.close()
    verdict.figures.append(
      "\(silent) silent connections of one address, \(failed) refused by the kernel, \(open) open "
        + "at the end: " + Self.words(for: answers))
    judge(answers, "beside silent connections", &verdict)
  }

  private func judge(
    _ answers: AnswerWatch.Answers, _ name: String, _ verdict: inout ChaosVerdict
  ) {
    if answers.missing > 0 || answers.count == 0 {
      verdict.complaints.append("\(name) \(answers.missing) new clients were not served")
    }
    if answers.slowest > Self.answerMillisecondsMax * patience {
      verdict.complaints.append("\(name) a new client waited for \(answers.slowest) ms")
    }
  }

  private static func words(for answers: AnswerWatch.Answers) -> String {
    "\(answers.count) new clients served, median \(answers.median) ms, slowest \(answers.slowest) "
      + "(bar \(answerMillisecondsMax)), \(answers.missing) not served"
  }

  // MARK: A broker that stands still

  private func stopBroker(
    _ pair: GatewayPair, quote: String, to verdict: inout ChaosVerdict
  ) throws {
    let secondsMax = Int64(2 * Self.brokerSecondsMax * patience)
    let start = MonotonicClock.milliseconds()
    var found: Int?
    while found == nil, MonotonicClock.milliseconds() - start < secondsMax * 1_000 {
      found = pair.ports.indices.first {
        metric("candled_gateway_broker_leads", pair.ports[$0]) == 1
      }
    }
    guard let leader = found else {
      verdict.complaints.append("no gateway executes orders")
      return
    }
    let other = pair.ports[1 - leader]
    let name = "{\"name\":\"trial\",\"market\":\"A\"}"
    let account = post("/v1/accounts", name, other)
    pair.gateways[leader].signal(SIGSTOP)
    defer { pair.gateways[leader].signal(SIGCONT) }
    let began = MonotonicClock.milliseconds()
    let deadline = began + secondsMax * 1_000
    var (status, pending) = (0, 0)
    while status != 201, MonotonicClock.milliseconds() < deadline {
      status = post("/v1/account/deposits", "{\"type\":\"bank\",\"amount\":\"1000\"}", other)
      if status == 202 { pending += 1 }
    }
    let seconds = Double(MonotonicClock.milliseconds() - began) / 1_000
    verdict.figures.append(
      "broker stopped (account \(account)): the other one executes after \(seconds) s (bar "
        + "\(Self.brokerSecondsMax)), \(pending) requests answered 202 before, last status "
        + "\(status)"
    )
    if status != 201 || seconds > Double(Self.brokerSecondsMax * patience) {
      verdict.complaints.append("no other gateway executes orders after \(seconds) s")
    }
  }

  // MARK: A start behind a backfill

  private func startBehindBackfill(
    _ pair: GatewayPair, quote: String, to verdict: inout ChaosVerdict
  ) throws {
    pair.daemon?.kill()
    for gateway in pair.gateways { gateway.kill() }
    let changes = backfilled / Self.candlesOfChange
    // What a backfill writes: changes that name candles. The same ones again and again will do.
    try SQLProbe.run(
      """
      with place as (
        update candled.feed_sequence set last_seq = last_seq + \(changes) returning last_seq
      ), keys as (
        select array_agg(k.instrument_id) ids, array_agg(k.timeframe) timeframes,
          array_agg(k.opened_at) opened_ats
        from (
          select c.instrument_id, c.timeframe, c.opened_at
          from candled.candle c
          cross join generate_series(1, \(Self.candlesOfChange))
          limit \(Self.candlesOfChange)
        ) k
      )
      insert into candled.change
        (seq, committed_at, known_at, position, quotes, rejections, candle_instrument_ids,
        candle_timeframes, candle_opened_ats, revision_instrument_ids, revision_timeframes,
        revision_opened_ats, gap_ids, closed_gap_ids, audit_instrument_ids, audit_days, events)
      select p.last_seq - \(changes) + n, clock_timestamp(), l.known_at, l.position, 0, 0, k.ids,
        k.timeframes, k.opened_ats, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '[]'
      from place p
      cross join keys k
      cross join (select known_at, position from candled.change order by seq desc limit 1) l
      cross join generate_series(1, \(changes)) n
      """, url: pair.world.url)
    let began = MonotonicClock.milliseconds()
    try pair.gateways[0].start()
    var (ready, quoted, unkept) = (Int64?.none, Int64?.none, 0)
    let secondsMax = 200
    while quoted == nil || ready == nil {
      let isReady = pair.isReady(0)
      let isQuoted = status(of: answer(quote, as: Self.victim, pair.ports[0])) == 200
      let now = MonotonicClock.milliseconds() - began
      if isReady { ready = ready ?? now }
      if isQuoted { quoted = quoted ?? now }
      // Ready was seen first, so it must hold.
      if isReady, !isQuoted { unkept += 1 }
      guard now < secondsMax * 1_000 else { break }
      usleep(20_000)
    }
    let stored = try text("select count(*) from candled.change", pair)
    verdict.figures.append(
      "start behind a backfill of \(changes * Self.candlesOfChange) candles, \(stored) changes in "
        + "all: ready after \(ready ?? -1) ms, a quote after \(quoted ?? -1) ms (bar "
        + "\(Self.startMillisecondsMax)), ready without a quote \(unkept) times (bar 0)")
    if unkept > 0 { verdict.complaints.append("ready without a quote, \(unkept) times") }
    if quoted ?? .max > Self.startMillisecondsMax * Int64(patience) {
      verdict.complaints.append("a quote was answered \(quoted ?? -1) ms after the start")
    }
  }

  // MARK: Asking

  private static func request(
    _ path: String, as secret: String, method: String = "GET", body: String? = nil
  ) -> [UInt8] {
    var lines = [
      "\(method) \(path) HTTP/1.1", "Host: localhost", "Authorization: Bearer \(secret)",
      "Connection: close",
    ]
    if let body {
      lines.append("Content-Type: application/json")
      lines.append("Content-Length: \(body.utf8.count)")
      lines.append("Idempotency-Key: \(UUID().uuidString)")
    }
    return Array((lines + ["", body ?? ""]).joined(separator: "\r\n").utf8)
  }

  private func answer(_ path: String, as secret: String, _ port: UInt16) -> Data? {
    AdminScraper.answer(to: Self.request(path, as: secret), port: port, secondsMax: 10)
  }

  private func status(of answer: Data?) -> Int {
    Int(String(decoding: (answer ?? Data()).dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
  }

  private func post(_ path: String, _ body: String, _ port: UInt16) -> Int {
    let request = Self.request(path, as: Self.victim, method: "POST", body: body)
    return status(of: AdminScraper.answer(to: request, port: port, secondsMax: 10))
  }

  private func metric(_ name: String, _ port: UInt16) -> Double? {
    let page = String(
      decoding: AdminScraper.get("/metrics", port: port, secondsMax: 10) ?? Data(), as: UTF8.self)
    let line = page.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
    return line.flatMap { Double($0.dropFirst(name.count + 1)) }
  }

  private func text(_ sql: String, _ pair: GatewayPair) throws -> String {
    (try SQLProbe.run(sql, url: pair.world.url).first?.first ?? nil) ?? ""
  }
}
