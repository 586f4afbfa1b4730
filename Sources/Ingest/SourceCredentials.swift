import Feeds
import Market
import Operations

/// The keys of the sources, from the files the settings name. A key is known by a label made from a
/// hash of it: stable when keys are added or reordered, and no way back.
package struct SourceCredentials: Sendable {
  package struct Key: Sendable, Equatable {
    package let label: String
    let credentials: FeedCredentials
  }

  /// The keys by the source's name.
  private var bySource: [String: [Key]] = [:]
  private var secrets: [Secret] = []

  /// - Parameter bySource: by the source's name; none unless given.
  init(bySource: [String: [Key]] = [:]) { self.bySource = bySource }

  /// - Throws: `ConfigurationError` if a file is not there or not what it should be.
  package init(_ settings: Settings) throws(ConfigurationError) {
    for source in SourceRegistry.all {
      guard let declared = source.credentials, let file = settings[declared.file] else { continue }
      let entries: [[Secret]]
      do throws(ConfigurationError) {
        entries = try CredentialFile.load(file, words: declared.words)
      } catch {
        throw error.about(declared.file.key)
      }
      let used = declared.requestsPerDay == nil ? Array(entries.prefix(1)) : entries
      let words = used.map { $0.map { $0.reveal() } }
      bySource[source.name] = zip(Self.labels(source.name, secrets: words.map { $0[0] }), words)
        .map { Key(label: $0, credentials: FeedCredentials(words: $1)) }
      secrets += entries.joined()
    }
  }

  package func keys(of source: any SourceDefinition) -> [Key] { bySource[source.name] ?? [] }

  package func register(in mask: SecretMask) {
    for secret in secrets { mask.register(secret) }
  }

  /// The sources whose keys are others.
  func sourcesChanged(to other: SourceCredentials) -> [any SourceDefinition] {
    SourceRegistry.all.filter { keys(of: $0) != other.keys(of: $0) }
  }

  var byLabel: [String: FeedCredentials] {
    Dictionary(
      bySource.values.joined().map { ($0.label, $0.credentials) },
      uniquingKeysWith: { first, _ in first })
  }

  /// 24 bits of a hash: enough to tell a handful apart, too few to tell anything else. Keys that
  /// have these in common get 48.
  static func labels(_ prefix: String, secrets: [String]) -> [String] {
    let hashes = secrets.map { StableHash(of: $0).value }
    let short = hashes.map { digits(($0 ^ ($0 >> 32)) & 0xFF_FFFF, count: 6) }
    let counts = Dictionary(short.map { ($0, 1) }, uniquingKeysWith: +)
    return zip(short, hashes).map { label, hash in
      "\(prefix)-" + (counts[label] == 1 ? label : digits(hash & 0xFFFF_FFFF_FFFF, count: 12))
    }
  }

  private static func digits(_ value: UInt64, count: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: count - digits.utf8.count) + digits
  }
}
