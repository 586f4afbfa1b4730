/// What `script/chaos` runs: each section a command of `candled-trials`, in its full length, and
/// short for `script/test`.
package struct ChaosSection: Sendable, CustomStringConvertible {
  package var name: String
  package var long: [String]
  /// nil where other tests do the same in short.
  package var short: [String]?
  /// It fills a disk of its own, which only root may mount.
  package var needsMount: Bool { name == "dbfull" }
  /// What it may take, in seconds; a section that hangs is ended and has failed.
  package var longSecondsMax = 3_600
  package var shortSecondsMax = 300

  package var description: String { name }

  package static let all: [ChaosSection] = [
    ChaosSection("kill", "--times 200", short: "--times 5 --instruments 12 --from 890"),
    ChaosSection("terminate", "--times 200", short: "--times 5 --instruments 12 --from 890"),
    ChaosSection(
      "restart", "--times 50",
      short: "--times 4 --instruments 12 --from 890 --within 60000"),
    ChaosSection(
      "blackhole", "--times 10 --seconds 60 --speed 10",
      short: "--times 1 --seconds 2 --speed 120 --pace 10 --instruments 12"),
    ChaosSection(
      "outage", "--minutes 45 --speed 60 --instruments 300",
      short: "--minutes 10 --speed 360 --instruments 12"),
    ChaosSection(
      "logs", "--minutes 60 --speed 60 --instruments 300",
      short: "--minutes 60 --speed 400 --instruments 12"),
    ChaosSection("signals", "--times 100", short: "--times 3 --instruments 12"),
    ChaosSection("reload", "--times 100", short: "--times 5 --instruments 12 --from 885"),
    ChaosSection("mutations", "--times 1000", short: "--times 20"),
    ChaosSection(
      "soak", "--hours 24 --speed 144",
      short: "--hours 16 --speed 3600 --warm 4 --growth 15 --instruments 12"),
    ChaosSection(
      "pair", "--kills 50 --pauses 10", short: "--kills 1 --pauses 1 --instruments 12 --from 870"),
    ChaosSection(
      "dbfull", "--minutes 20 --speed 60 --instruments 100",
      short: "--minutes 5 --speed 120 --instruments 24"),
    ChaosSection(
      "replica", "--commits 600 --instruments 300 --kills 10 --cut 60",
      short: "--commits 30 --instruments 12 --kills 1 --cut 2 --percent 1000 --visible 5000"),
    ChaosSection(
      "listener", "--commits 200 --instruments 5400",
      short: "--commits 20 --instruments 200 --percent 1000"),
    ChaosSection(
      "readers", "--commits 100 --instruments 5400",
      short: "--commits 20 --instruments 200 --percent 1000"),
    ChaosSection("canary", "--instruments 60", short: "--instruments 12"),
    ChaosSection(
      "broker", "--kills 200 --database-kills 50 --speed 30 --pauses 10 --jumps 3",
      // With so many instruments some are at limit-up. Until noon: what traded is shown by then.
      short: "--kills 3 --database-kills 1 --instruments 24 --users 8 --speed 300 --until 720 "
        + "--alerts 400 --alert-milliseconds 0 --pauses 1 --jumps 1"),
    ChaosSection(
      "hostile-gateway", "--instruments 5400",
      short: "--instruments 5400 --unread 30 --silent 1200 --candles 600000 --patience 60"),
    ChaosSection("clock", "--instruments 60"),
    ChaosSection("pause", "--speed 60"),
    ChaosSection("disk", "--times 10"),
    ChaosSection("isolation", "--seconds 3"),
    ChaosSection("flips", "--count 1000000"),
  ]

  /// Those of script/test.
  package static var allShort: [ChaosSection] { all.filter { $0.short != nil } }

  init(_ name: String, _ long: String, short: String? = nil) {
    self.name = name
    self.long = Self.words(name, long)
    self.short = short.map { Self.words(name, $0) }
  }

  private static func words(_ name: String, _ options: String) -> [String] {
    [name] + options.split(separator: " ").map(String.init)
  }
}
