import EmbeddedPostgres
import Foundation
import Glibc
import Market
import Platform
import Postgres
import Reader
import Store
import TestSupport

/// A primary, its physical standby and its logical replica, while a writer commits minutes over a
/// turn of the month and a backfill goes back to an old one. The replica's server is killed with
/// SIGKILL again and again, and its link falls silent for a while. In the end all three hold the
/// same rows, and their followers have printed the same candles in the same order; then the standby
/// is promoted, and the replica is made anew behind it.
package struct ReplicaTrial {
  package var binary: String
  package var commits: Int
  package var instruments: Int
  package var kills: Int
  /// The link to the replica is silent for so long.
  package var cutSeconds: Int
  package var seed: UInt64
  /// Of a commit beside one subscriber, in per cent of one without.
  package var commitPercentMax: Int64 = 110
  /// From the primary's NOTIFY to the replica's, p50.
  package var visibleMillisecondsMax: Int64 = 50

  package init(
    binary: String, commits: Int, instruments: Int, kills: Int, cutSeconds: Int, seed: UInt64
  ) {
    self.binary = binary
    self.commits = commits
    self.instruments = instruments
    self.kills = kills
    self.cutSeconds = cutSeconds
    self.seed = seed
  }

  /// Of commits with and without a subscriber; the first warms the servers up.
  private static let turns = 7
  private static let secondsMax = 300

  package func run() async throws -> ChaosVerdict {
    let world = try ReplicaWorld(seed: seed, instruments: instruments)
    defer { world.end() }
    var verdict = ChaosVerdict()
    try await world.connect()
    try await measureCommits(in: world, into: &verdict)
    try await measureVisibility(in: world, into: &verdict)
    let standby = try world.makeStandby()
    let followers = try [
      ("primary", world.primaryURL), ("standby", standby.url()), ("replica", world.replicaURL),
    ].map { try LineFollower($0, of: $1, binary: binary, folder: world.folder) }
    // One that has not connected yet would end with the server that is killed.
    for follower in followers {
      _ = try follower.lines(through: world.lastSeq, secondsMax: Self.secondsMax)
    }
    try await write(in: world, into: &verdict)
    try world.catchUp()
    verdict.complaints += try world.differences()
    try compare(followers, through: world.lastSeq, into: &verdict)
    try loseSlot(in: world, into: &verdict)
    try await promote(world, standby, followers, into: &verdict)
    return verdict
  }

  // MARK: Cost

  private func measureCommits(
    in world: ReplicaWorld, into verdict: inout ChaosVerdict
  ) async throws {
    var times: [Bool: [Int64]] = [true: [], false: []]
    let perTurn = max(commits / 20, 4)
    for turn in 0..<Self.turns {
      for isSubscribed in [false, true] {
        try world.setSubscribed(isSubscribed)
        for _ in 0..<perTurn {
          let elapsed = try await world.commit()
          if turn > 0 { times[isSubscribed]?.append(elapsed) }
          // The replica applies it: a market commits every few seconds.
          try await Task.sleep(nanoseconds: 30_000_000)
        }
      }
    }
    let (alone, beside) = (median(times[false] ?? []), median(times[true] ?? []))
    let percent = beside * 100 / max(alone, 1)
    verdict.figures.append(
      "a commit of \(instruments) candles: p50 \(alone) µs, \(beside) µs beside a subscriber "
        + "(\(percent) %)")
    if percent > commitPercentMax {
      verdict.complaints.append("commits took \(percent) % of their time beside a subscriber")
    }
  }

  private func measureVisibility(
    in world: ReplicaWorld, into verdict: inout ChaosVerdict
  ) async throws {
    let watches = try [world.database.url, world.replica.url].map { try SeqWatch(url: $0) }
    defer { for watch in watches { watch.leave() } }
    let first = world.lastSeq
    for _ in 0..<max(commits / 6, 10) {
      _ = try await world.commit()
      try await Task.sleep(nanoseconds: 50_000_000)
    }
    try world.replica.catchUp(with: world.database.url)
    try await Task.sleep(nanoseconds: 500_000_000)
    let (there, here) = (watches[0].moments, watches[1].moments)
    let delays = there.compactMap { seq, moment in
      seq > first ? here[seq].map { $0 - moment } : nil
    }.sorted()
    let complaint = "\(delays.count) of \(world.lastSeq - first) changes were notified on both"
    if delays.count < Int(world.lastSeq - first) / 2 { verdict.complaints.append(complaint) }
    let (p50, p99) = (median(delays), delays.isEmpty ? 0 : delays[delays.count * 99 / 100])
    verdict.figures.append(
      "a change on the replica: \(p50) µs p50, \(p99) µs p99 after the primary's NOTIFY, "
        + "n \(delays.count)")
    if p50 > visibleMillisecondsMax * 1_000 {
      verdict.complaints.append("a change was visible on the replica after \(p50) µs")
    }
  }

  private func median(_ times: [Int64]) -> Int64 {
    times.isEmpty ? 0 : times.sorted()[times.count / 2]
  }

  // MARK: Faults

  private func write(in world: ReplicaWorld, into verdict: inout ChaosVerdict) async throws {
    let killed = Set((1...max(kills, 1)).map { $0 * commits / (kills + 1) })
    let (cutAt, backfillAt) = (commits / 3 + 1, commits / 2 + 1)
    var deaths = 0
    for place in 0..<commits {
      if place == cutAt { try await cut(world) }
      if place == backfillAt {
        verdict.figures.append(try await world.backfill(month: "2019-03"))
      }
      if kills > 0, killed.contains(place) {
        try world.replica.server.killHard()
        deaths += 1
        _ = try await world.commit()
        try world.replica.server.start()
      }
      _ = try await world.commit(daysLater: place < commits / 2 ? 20 : 31)
    }
    if deaths != kills { verdict.complaints.append("\(deaths) of \(kills) kills") }
    verdict.figures.append(
      "\(world.lastSeq) commits over a turn of the month; the replica killed \(deaths) ×, its link "
        + "silent for \(cutSeconds) s")
  }

  private func cut(_ world: ReplicaWorld) async throws {
    world.proxy.freeze()
    let end = Date().addingTimeInterval(TimeInterval(cutSeconds))
    while Date() < end {
      _ = try await world.commit(daysLater: 10)
      try await Task.sleep(nanoseconds: 500_000_000)
    }
    world.proxy.thaw()
  }

  private func loseSlot(in world: ReplicaWorld, into verdict: inout ChaosVerdict) throws {
    try world.execute("select pg_create_logical_replication_slot('dead', 'pgoutput')")
    var keptMax: Int64 = 0
    var isLost = false
    for _ in 0..<40 where !isLost {
      try world.execute(
        "select pg_logical_emit_message(false, 'trial', 'x'), pg_switch_wal(); checkpoint")
      for link in try world.replicas() where link.name == "dead" {
        isLost = link.isLost
        keptMax = max(keptMax, link.keptBytes ?? 0)
      }
      // The others say every second how far they are.
      usleep(500_000)
    }
    let files = Int64(try world.value("select sum(size)::bigint from pg_ls_waldir()")) ?? .max
    let filesMax = (ReplicaWorld.slotMegabytes + ReplicaWorld.walMegabytes + 32) << 20
    verdict.figures.append(
      "a dead slot kept \(keptMax >> 20) MiB of at most \(ReplicaWorld.slotMegabytes) and was "
        + "lost; \(files >> 20) MiB of log are left")
    if !isLost { verdict.complaints.append("the dead slot was not lost") }
    // Whole segments are kept.
    if keptMax > (ReplicaWorld.slotMegabytes + 16) << 20 {
      verdict.complaints.append("the dead slot kept \(keptMax) bytes")
    }
    if files > filesMax { verdict.complaints.append("the log has \(files) bytes") }
    for link in try world.replicas() where link.isLost && link.name != "dead" {
      verdict.complaints.append("the slot \(link.name) was lost, too")
    }
    try world.execute("select pg_drop_replication_slot('dead')")
    try world.catchUp()
  }

  // MARK: Followers

  /// Each has printed the same, without a restart.
  private func compare(
    _ followers: [LineFollower], through seq: Int64, into verdict: inout ChaosVerdict
  ) throws {
    let lines = try followers.map { try $0.lines(through: seq, secondsMax: Self.secondsMax) }
    verdict.figures.append("\(lines[0].count) lines of a follower of the primary")
    for (place, (follower, printed)) in zip(followers, lines).enumerated() {
      let differences = place == 0 ? [] : LineFollower.differences(of: printed, from: lines[0])
      verdict.complaints += differences.map { "the \(follower.name)'s follower: \($0)" }
      let others = printed.filter { $0.isRestart || $0.isSkipped }
      verdict.complaints += others.prefix(3).map { "the \(follower.name): \($0.text)" }
    }
    if lines[0].isEmpty { verdict.complaints.append("no follower printed a line") }
  }

  private func promote(
    _ world: ReplicaWorld, _ standby: Standby, _ followers: [LineFollower],
    into verdict: inout ChaosVerdict
  ) async throws {
    await world.losePrimary()
    followers[0].end()
    let begun = Date()
    try await world.promote(standby)
    let more = max(commits / 20, 5)
    for _ in 0..<more { _ = try await world.commit(daysLater: 40) }
    let seconds = Int(Date().timeIntervalSince(begun))
    // The replica's follower begins with what the copy has, and may have missed those.
    for follower in followers.dropFirst() {
      try follower.awaitRestart(secondsMax: Self.secondsMax)
    }
    for _ in 0..<more { _ = try await world.commit(daysLater: 41) }
    verdict.figures.append("promoted, the replica made anew, and written to after \(seconds) s")
    try world.replica.catchUp(with: standby.url)
    verdict.complaints += try PublishedRows.differences(
      between: standby.url, and: world.replica.url
    ).map { "after the promotion: \($0)" }
    let lines = try followers.dropFirst().map {
      try $0.lines(through: world.lastSeq, secondsMax: Self.secondsMax)
    }
    var last: Int64 = 0
    for (follower, printed) in zip(followers.dropFirst(), lines) {
      let restarts = printed.filter(\.isRestart)
      last = max(last, restarts.map(\.seq).max() ?? 0)
      if restarts.count != 1 {
        verdict.complaints.append(
          "the \(follower.name)'s follower printed restarted \(restarts.count) ×")
      }
    }
    let rest = lines.map { $0.filter { $0.seq > last } }
    if rest[0].isEmpty { verdict.complaints.append("nothing was printed after the promotion") }
    verdict.complaints += LineFollower.differences(of: rest[1], from: rest[0])
      .map { "after the promotion: \($0)" }
    verdict.figures.append("restarted once for each follower, then \(rest[0].count) equal lines")
  }
}
