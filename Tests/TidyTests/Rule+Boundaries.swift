/// Who may know what: the import table, SQL in the store, addresses in the transport.

@testable import candled_tidy

extension Rule {
  static let boundaries = [imports, foundation, sql, addresses]

  /// What each target may import beside the system's own modules. The row of a test target is not
  /// kept: tests may look at anything.
  static let importable: [String: Set<String>] = [
    "Market": ["CEmbeddedFiles", "Synchronization"],
    "Charts": ["Market"],
    "Platform": ["CLinux"],
    "Candles": ["Market"],
    "Feeds": ["Market"],
    "Polling": ["Market"],
    "PaperTrading": ["Market"],
    "Alerts": ["Market"],
    "Transport": ["Platform", "CCurl", "CLinux"],
    "Journal": ["Market", "Platform", "CZstd", "CLinux"],
    "Postgres": ["Market", "Platform", "CPostgres", "CLinux"],
    "EmbeddedPostgres": ["Market", "Platform", "Postgres", "CPostgres", "CLinux"],
    "Reader": ["Market", "Platform", "Postgres"],
    "Commits": ["Market"],
    "Store": [
      "Market", "Candles", "Commits", "Postgres", "Platform", "CPostgres", "CLinux",
      "CEmbeddedFiles",
    ],
    "Operations": ["Market", "Platform", "Feeds", "CLinux", "Logging", "TOMLKit"],
    "Commands": [
      "Market", "Platform", "Operations", "TerminalView", "CLinux", "ArgumentParser",
    ],
    "HTTPServing": [
      "Operations", "NIOCore", "NIOConcurrencyHelpers", "NIOHTTP1", "NIOPosix",
    ],
    "ExchangeSimulator": ["Market", "Platform"],
    "CandledClient": ["Market", "Postgres", "Reader"],
    "Broker": [
      "Market", "Platform", "Postgres", "Reader", "PaperTrading", "AppStore", "Logging",
    ],
    "AppStore": [
      "Market", "Platform", "Postgres", "PaperTrading", "Alerts", "CCrypto", "CEmbeddedFiles",
      "Logging",
    ],
    "Page": ["Market", "CEmbeddedFiles"],
    "Gateway": [
      "Market", "Charts", "Platform", "PaperTrading", "Postgres", "Reader", "CandledClient",
      "AppStore", "Page", "Operations", "Alerts", "Transport", "HTTPServing", "CZlib", "Logging",
      "NIOCore", "NIOConcurrencyHelpers",
      "NIOHTTP1", "NIOPosix",
      "NIOWebSocket", "HTTPTypes",
    ],
    "candled-gateway": [
      "Market", "Platform", "EmbeddedPostgres", "Postgres", "PaperTrading", "AppStore", "Broker",
      "Gateway", "Operations", "TerminalView", "Commands", "CLinux", "Logging", "ArgumentParser",
    ],
    "TerminalView": ["Market"],
    "DemoView": ["Market", "TerminalView"],
    "Ingest": [
      "Market", "Candles", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres",
      "Postgres", "Commits", "Store",
      "Operations",
      "Platform", "CLinux", "Logging",
    ],
    "History": [
      "Market", "Candles", "Feeds", "Polling", "Journal", "Postgres", "Reader", "Commits", "Store",
      "Operations", "Ingest", "Logging",
    ],
    "Admin": [
      "Market", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres", "Postgres",
      "Commits", "Store",
      "Operations",
      "Ingest", "HTTPServing", "Platform", "CLinux", "Logging",
    ],
    "DaemonCommands": [
      "Market", "Candles", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres",
      "Reader", "Commits", "Store", "Operations", "Ingest", "History", "TerminalView", "Commands",
      "Platform", "CLinux", "Logging", "ArgumentParser",
    ],
    "candled": [
      "Market", "Candles", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres",
      "Postgres", "Reader", "Commits", "Store", "Operations", "CandledClient", "TerminalView",
      "Ingest", "History", "Admin", "Commands", "DaemonCommands", "Platform", "Logging",
      "ArgumentParser",
    ],
    "candled-demo": [
      "Market", "Feeds", "Polling", "Transport", "EmbeddedPostgres", "Postgres", "Commits", "Store",
      "Operations", "ExchangeSimulator", "TerminalView", "DemoView", "Ingest", "History",
      "Commands", "DaemonCommands", "Platform", "Logging", "ArgumentParser",
    ],
    "Programs": [],
  ]

  /// The toolchain's modules, Foundation apart.
  static let systemModules: Set<String> = ["Glibc", "Synchronization", "Dispatch"]

  /// Foundation costs memory, start-up and exactness; the hot path does without.
  static let foundationUsers: Set<String> = [
    "Operations", "Ingest", "Admin", "CandledClient", "Gateway", "candled", "candled-demo",
    "candled-gateway",
  ]

  static let imports = Rule(name: "imports point down only") { file in
    guard file.isProduct else { return [] }
    guard let allowed = importable[file.target] else {
      return [
        Violation(
          path: file.path, line: 1, message: "\(file.target) has no row in the import table")
      ]
    }
    return violations(in: file) { module in
      let isSystem = systemModules.contains(module) && file.target != "Market"
      return !isSystem && !module.hasPrefix("Foundation") && !allowed.contains(module)
    }
  }

  static let foundation = Rule(name: "the hot path does without Foundation") { file in
    guard file.isProduct, !foundationUsers.contains(file.target) else { return [] }
    return violations(in: file) { $0.hasPrefix("Foundation") }
  }

  private static func violations(
    in file: SourceFile, where isForbidden: (String) -> Bool
  ) -> [Violation] {
    file.text.lines.enumerated().compactMap { index, line in
      guard let module = importedModule(in: line.code), isForbidden(module) else { return nil }
      return Violation(
        path: file.path, line: index + 1, message: "\(file.target) imports \(module)")
    }
  }

  /// `Glibc` of `public import Glibc` and of `@testable import struct Glibc.stat`.
  static func importedModule(in code: String) -> String? {
    let words = code.split { !($0.isLetter || $0.isNumber || "_@.()".contains($0)) }
    guard let keyword = words.firstIndex(of: "import"),
      words[..<keyword].allSatisfy({ $0.hasPrefix("@") || accessLevels.contains($0) }),
      let path = words[(keyword + 1)...].first(where: { !importKinds.contains($0) })
    else { return nil }
    return path.split(separator: ".").first.map(String.init)
  }

  private static let accessLevels: Set<Substring> = [
    "public", "package", "internal", "fileprivate", "private",
  ]
  private static let importKinds: Set<Substring> = [
    "struct", "class", "enum", "protocol", "typealias", "func", "let", "var",
  ]

  /// Statements, not words: a sentence may well say that something is selected.
  static let sql = literals(
    "SQL lives in the modules of the database and in schema.sql",
    except: ["AppStore", "EmbeddedPostgres", "Postgres", "Reader", "Store"]
  ) {
    [
      #/(?is)\bselect\s.+\sfrom\s/#, #/(?i)^\s*select\s+\w+\s*\(/#, #/(?i)\binsert\s+into\b/#,
      #/(?i)\bdelete\s+from\b/#, #/(?i)\bmerge\s+into\b/#, #/(?i)\bupdate\s+\w+\s+set\b/#,
      #/(?i)\bcopy\s+\S+\s+(?:from|to)\s+std/#, #/\bpg_\w+\(/#,
      #/(?i)\b(?:create|alter|drop)\s+(?:\w+\s+)?(?:table|view|index|role|database|function)\b/#,
    ]
  }

  /// A base address (`https://host:port`) is configuration; joining one with a path is Transport's.
  static let addresses = literals(
    "only Transport makes URLs", except: ["Transport"]
  ) {
    // The name of a kind of document is no address.
    [#/(?i)https?://(?!www\.w3\.org/)[^/?\s]*[/?]\S/#]
  }

  private static func literals(
    _ name: String, except owners: Set<String>,
    _ patterns: @escaping @Sendable () -> [Regex<Substring>]
  ) -> Rule {
    Rule(name: name) { file in
      guard file.isProduct, !owners.contains(file.target) else { return [] }
      let patterns = patterns()
      return file.text.lines.enumerated().compactMap { index, line in
        let literal = line.literals.first { text in patterns.contains { text.contains($0) } }
        guard let literal, !isProven(name, at: index, in: file.text) else { return nil }
        return Violation(path: file.path, line: index + 1, message: "\(literal.prefix(40))")
      }
    }
  }
}
