/// What the gateway costs beside what the kernel costs: fan-out to thousands of WebSockets against
/// a bare `send()`, and the whole chain from an exchange to an app.
///
/// Each side has its own process and its own connections to the same client; they take turns. Where
/// it is permitted the servers and the clients run at real-time priority 1: what else runs on the
/// machine
/// waits. `--followers N` makes the crowd smaller and the run shorter.

import Glibc

let gatewaySection = BenchSection(
  name: "gateway", title: "sweeps of 5,400 instruments to followers of 20"
) { plan in
  try raiseDescriptorLimit(for: plan.followers)
  try fanOut(to: plan.followers)
  try await gatewayChain()
}

private enum GatewayBench {
  /// What a process opens beside its followers' connections.
  static let moreDescriptors = 500
  static let crowds = [1_000, 5_000]
  static let rounds = 20
  static let sweepSeconds = 3
  static let pacedSweeps = 8
  /// Until what does not read is full: the kernel takes some 100 kB for a socket that nobody reads.
  static let fillingSweeps = 40
  static let drainingSweeps = 3
  static let stuckShare = 10
  static let turns = 2
}

private func raiseDescriptorLimit(for followers: Int) throws {
  let wanted = rlim_t(followers + GatewayBench.moreDescriptors)
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  guard limit.rlim_cur < wanted else { return }
  var raised = rlimit(rlim_cur: wanted, rlim_max: max(limit.rlim_max, wanted))
  guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 else {
    throw BenchFailure(
      description: "\(followers) followers need \(wanted) open files, and the hard limit is "
        + "\(limit.rlim_max): `ulimit -Hn \(wanted)` as root, LimitNOFILE=, or fewer followers")
  }
}

// MARK: Fan-out

private func fanOut(to followers: Int) throws {
  var bench = try FanOutBench()
  printLine(
    "  real-time priority 1: \(bench.isRealTime ? "server, floor and client" : "not permitted")")
  let crowds = GatewayBench.crowds.filter { $0 < followers } + [followers]
  for crowd in crowds {
    try bench.grow(to: crowd)
    try bench.compare(rounds: GatewayBench.rounds)
    bench.report(followers: crowd)
  }
  try paced(&bench)
  try besideStuckFollowers(&bench, followers: followers)
}

extension FanOutBench {
  fileprivate func report(followers: Int) {
    printLine(
      "  \(followers) followers, \(ours.messageBytes) bytes a message, load \(Machine.load()):")
    for (latency, cpu) in [(floor.latency, floor.cpu), (ours.latency, ours.cpu)] {
      let figures = [(latency.median, " ms p50"), (latency.quantile(0.99), " p99")]
      let text = figures.map { decimals($0.0, 1, width: 8) + $0.1 }.joined()
      let most = decimals(latency.quantile(1), 1, width: 8)
      printLine(
        "  \(padded(latency.name, 42))\(text)\(most) max"
          + "\(decimals(cpu.median, 1, width: 8)) ms of CPU a sweep")
    }
    let p99 = ours.latency.quantile(0.99)
    check("p99 of all deliveries", p99 / floor.latency.quantile(0.99), atMost: 1.3, "× the floor")
    check("CPU of a sweep", ours.cpu.median / floor.cpu.median, atMost: 1.3, "× the floor")
    if followers >= 10_000 { check("p99 of all deliveries", p99, atMost: 150, "ms") }
  }
}

/// At the exchange's cadence, all that the process does meanwhile included.
private func paced(_ bench: inout FanOutBench) throws {
  let (before, began) = (bench.ours.server.cpuMilliseconds, milliseconds())
  try bench.publish(
    rounds: GatewayBench.pacedSweeps, everyMilliseconds: Int64(GatewayBench.sweepSeconds) * 1_000)
  let share = (bench.ours.server.cpuMilliseconds - before) / (milliseconds() - began)
  check("CPU at \(GatewayBench.sweepSeconds) s", share * 100, atMost: 6, "% of a core")
  check("memory", bench.ours.server.peakMebibytes, atMost: 160, "MiB RSS")
}

private func besideStuckFollowers(_ bench: inout FanOutBench, followers: Int) throws {
  let stuck = followers / GatewayBench.stuckShare
  try bench.setUnnoted(first: stuck)
  var alone = BenchRow("all read")
  var beside = BenchRow("\(stuck) read nothing")
  var growth = 0.0
  for _ in 0..<GatewayBench.turns {
    bench.clear()
    try bench.publish(rounds: GatewayBench.rounds)
    alone.rounds += bench.ours.latency.rounds
    let resident = bench.ours.server.residentMebibytes
    try bench.stopReading(first: stuck)
    try bench.publish(rounds: GatewayBench.fillingSweeps)
    bench.clear()
    try bench.publish(rounds: GatewayBench.rounds)
    beside.rounds += bench.ours.latency.rounds
    growth = max(growth, bench.ours.server.residentMebibytes - resident)
    try bench.readOn(first: stuck)
    try bench.publish(rounds: GatewayBench.drainingSweeps)
  }
  printLine("  the other \(followers - stuck) followers' deliveries:")
  report([alone, beside])
  try bench.setUnnoted(first: 0)
  let slow = bench.ours.slowMessages
  printLine("  \(slow) messages \"slow\" to those who read on, \(bench.ours.closed) were closed")
  check(
    "p99 beside those who do not read", beside.quantile(0.99) / alone.quantile(0.99), atMost: 1.1,
    "× without")
  check("memory of one", growth * 1024 / Double(stuck), atMost: 32, "KiB")
  check(
    "notices of conflation", Double(slow) / Double(stuck * GatewayBench.turns), atLeast: 1,
    "for each")
}
