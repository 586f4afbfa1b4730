/// What `candled check` looks at, one function each.

import Glibc
import Ingest
import Market
import Operations
import Store

/// The outcome of one check, in one line.
struct Finding {
  var check: String
  var status = Operations.ExitCode.ok
  var detail: String

  static func all(of settings: Settings, path: String?, asksDatabase: Bool) -> [Finding] {
    var findings = [
      configuration(path), symbols(settings), keys(settings), calendar(on: today),
      stateDirectory(settings),
    ]
    if asksDatabase { findings.append(database(settings)) }
    return findings
  }

  /// Whoever gets here has one without a fault.
  private static func configuration(_ path: String?) -> Finding {
    guard let path else { return Finding(check: "configuration", detail: "all defaults, no file") }
    let dropIns = ((try? ConfigurationFile.files(of: path)) ?? []).dropFirst().count
    return Finding(
      check: "configuration", detail: dropIns == 0 ? path : "\(path) and \(dropIns) in conf.d")
  }

  static func symbols(_ settings: Settings) -> Finding {
    var symbols = Set(settings.sinaSymbols)
    do throws(ConfigurationError) {
      if let file = settings.sinaSymbolsFile { symbols.formUnion(try SymbolFile.load(file)) }
    } catch {
      return Finding(check: "symbols", status: error.exitCode, detail: error.firstLine)
    }
    if symbols.isEmpty, !settings.universeFollow, settings.alpacaSymbols.isEmpty {
      return Finding(
        check: "symbols", status: .configuration,
        detail: "none: set sina.symbols, sina.symbols_file, universe.follow or alpaca.symbols")
    }
    symbols.formUnion(settings.alpacaSymbols)
    if settings.universeFollow {
      return Finding(
        check: "symbols", detail: "every listed A share, and \(symbols.count) by name")
    }
    return Finding(
      check: "symbols", detail: "\(symbols.count) instrument\(symbols.count == 1 ? "" : "s")")
  }

  /// Whether the files with keys are there, hold keys, and are nobody else's to read.
  private static func keys(_ settings: Settings) -> Finding {
    do throws(ConfigurationError) {
      let credentials = try SourceCredentials(settings)
      let alpaca = credentials.alpaca == nil ? "no Alpaca key" : "an Alpaca key"
      return Finding(
        check: "keys", detail: "\(credentials.licences.count) Mairui licences, \(alpaca)")
    } catch {
      return Finding(check: "keys", status: error.exitCode, detail: error.firstLine)
    }
  }

  /// A calendar that ends is an alarm, never a guess.
  static func calendar(
    _ calendar: TradingCalendar = .shanghai, on day: TradingDay
  ) -> Finding {
    switch calendar.freshness(on: day) {
    case .fresh:
      return Finding(check: "calendar", detail: "known to \(calendar.lastDay)")
    case .endsSoon(let daysLeft):
      return Finding(
        check: "calendar",
        detail: "ends on \(calendar.lastDay), in \(daysLeft) days: update candled"
      )
    case .ended:
      return Finding(
        check: "calendar", status: .configuration,
        detail: "ended on \(calendar.lastDay): update candled")
    }
  }

  /// It, or the nearest folder above it that exists, must take files of ours.
  private static func stateDirectory(_ settings: Settings) -> Finding {
    let wanted = settings.stateDirectory
    var folder = Substring(wanted)
    while access(String(folder), F_OK) != 0, let slash = folder.lastIndex(of: "/"), folder != "/" {
      folder = slash == folder.startIndex ? "/" : folder[..<slash]
    }
    if access(String(folder), W_OK | X_OK) == 0 {
      return Finding(check: "state_directory", detail: wanted)
    }
    let reason = reason(errno)
    return Finding(
      check: "state_directory", status: .noPermission, detail: "\(wanted): \(folder): \(reason)")
  }

  private static func database(_ settings: Settings) -> Finding {
    if settings.storeURL == nil, !settings.embeddedServer.isRunning {
      return serverBinaries
    }
    do {
      let differences = try Schema.check(url: settings.storeAddress())
      guard let first = differences.first else {
        return Finding(check: "database", detail: "schema version \(Schema.version)")
      }
      return Finding(check: "database", status: .dataError, detail: first)
    } catch let error as StoreError {
      return Finding(
        check: "database", status: CommandFailure(error).status, detail: error.description)
    } catch {
      return Finding(check: "database", status: .unavailable, detail: "not running")
    }
  }

  /// The private cluster is made by the first run; all it needs is a server.
  private static var serverBinaries: Finding {
    guard let binaries = ServerBinaries.installed().first else {
      return Finding(
        check: "database", status: .unavailable,
        detail: "no PostgreSQL server binaries: apt-get install postgresql")
    }
    return Finding(
      check: "database", detail: "embedded PostgreSQL \(binaries.major), not running")
  }

  private static var today: TradingDay {
    Timestamp(seconds: Int64(time(nil))).shanghaiDay
  }
}

extension ConfigurationError {
  fileprivate var firstLine: String { problems.first?.description ?? description }
}
