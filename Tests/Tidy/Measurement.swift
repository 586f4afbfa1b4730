/// The numbers by which the tree is held to the house style, taken once for report and tests.
import Foundation

struct Measurement {
  struct Labels {
    /// Parameters after the first.
    var later = 0
    var unlabelled = 0

    /// In tenths of a percent, rounded up.
    var permille: Int { later == 0 ? 0 : (unlabelled * 1_000 + later - 1) / later }
  }

  struct Count {
    let name: String
    let count: Int
  }

  /// Ascending.
  private(set) var functionLines: [Int] = []
  private(set) var fileLines: [Int] = []
  /// By module.
  private(set) var labels: [String: Labels] = [:]
  /// Stored properties by type, `Type+Aspect` files by type, lines that name a vendor by file,
  /// `public` outside the client's surface by file: the most first, none without any.
  private(set) var properties: [Count] = []
  private(set) var aspectFiles: [Count] = []
  private(set) var vendorLines: [Count] = []
  private(set) var publics: [Count] = []
  let readmeWords: Int
  let schemaLines: Int

  var sourceLines: Int { fileLines.reduce(0, +) }

  var allLabels: Labels {
    labels.values.reduce(into: Labels()) { sum, module in
      sum.later += module.later
      sum.unlabelled += module.unlabelled
    }
  }

  static func ofTree() throws -> Measurement { try measured.get() }

  private static let measured = Result {
    func text(_ path: String) throws -> String {
      try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
    }
    return Measurement(
      files: try SourceTree.files().filter(\.isProduct), readme: try text("README.md"),
      schema: try text("schema.sql"))
  }

  init(files: [SourceFile], readme: String, schema: String) {
    readmeWords = readme.split(whereSeparator: \.isWhitespace).count
    schemaLines = schema.count { $0 == "\n" }
    let surface = ClientSurface(files)
    var aspects: [String: Int] = [:]
    for file in files {
      fileLines.append(file.text.lines.count)
      functionLines += FunctionSpan.all(in: file.text).map(\.lines.count)
      let declarations = Declarations(in: file.text)
      labels[file.target, default: Labels()].later += declarations.laterParameters
      labels[file.target, default: Labels()].unlabelled += declarations.unlabelledParameters
      properties += declarations.storedProperties.map { type, count in
        Count(name: "\(file.target) \(type)", count: count)
      }
      if let type = file.name.split(separator: "+").first, file.name.contains("+") {
        aspects["\(file.target) \(type)", default: 0] += 1
      }
      vendorLines.append(Count(name: file.path, count: Vendor.lines(in: file)))
      let strays = declarations.publicOwners.count { !surface.holds($0, of: file.target) }
      publics.append(Count(name: file.path, count: strays))
    }
    fileLines.sort()
    functionLines.sort()
    aspectFiles = Self.ranked(aspects.map { Count(name: $0, count: $1) })
    properties = Self.ranked(properties)
    vendorLines = Self.ranked(vendorLines)
    publics = Self.ranked(publics)
  }

  private static func ranked(_ counts: [Count]) -> [Count] {
    counts.filter { $0.count > 0 }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
  }
}

extension [Measurement.Count] {
  var total: Int { reduce(0) { $0 + $1.count } }
}

extension [Int] {
  /// Of values in ascending order: the smallest that at least so many percent do not exceed.
  func percentile(_ percent: Int) -> Int {
    isEmpty ? 0 : self[Swift.max(0, (count * percent + 99) / 100 - 1)]
  }
}

/// A source of data, whose name belongs into its own folders and nowhere else.
struct Vendor {
  let name: String

  /// The folders of the feeds, those apart that all sources share.
  static let all: [Vendor] = {
    let feeds = SourceTree.root.appending(path: "Sources/Feeds")
    let folders = try? FileManager.default.contentsOfDirectory(atPath: feeds.path)
    let names = (folders ?? []).filter { !$0.contains(".") && !["Contract", "Text"].contains($0) }
    return names.sorted().map(Vendor.init)
  }()

  private func isHome(_ path: String) -> Bool {
    [
      "Sources/Feeds/SourceRegistry.swift", "Sources/Gateway/Doors/DoorRegistry.swift",
    ].contains(path)
      || ["Feeds", "ExchangeSimulator", "Gateway/Doors"].contains {
        path.hasPrefix("Sources/\($0)/\(name)/")
      }
  }

  /// How many lines of code or literals name a vendor that is not at home in the file.
  static func lines(in file: SourceFile) -> Int {
    let strangers = all.filter { !$0.isHome(file.path) }.map { $0.name.lowercased() }
    return file.text.lines.count { line in
      let text = ([line.code] + line.literals).joined(separator: "\n").lowercased()
      return strangers.contains { text.contains($0) }
    }
  }
}

/// What a program that links the client library can see: its own module and what it exports.
struct ClientSurface {
  private var modules: Set<String> = ["CandledClient"]
  /// `Store.FeedChange`.
  private var types: Set<String> = []

  init(_ files: [SourceFile]) {
    for line in files.filter({ $0.target == "CandledClient" }).flatMap(\.text.lines) {
      let exported = /@_exported import (?:(?:struct|enum|class|protocol) )?([\w.]+)/
      guard let name = line.code.firstMatch(of: exported)?.output.1 else { continue }
      if name.contains(".") { types.insert(String(name)) } else { modules.insert(String(name)) }
    }
  }

  func holds(_ type: String, of module: String) -> Bool {
    modules.contains(module) || types.contains("\(module).\(type)")
  }
}
