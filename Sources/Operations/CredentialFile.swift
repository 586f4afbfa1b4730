/// A file of secrets, one entry a line, as `mairui.licence_file` and `alpaca.key_file` name them:
/// what systemd's LoadCredential provides, or a file that only its owner can read. What stands in
/// it must never be repeated in an error.
///
/// A path `credential:NAME` is a credential of the service: systemd puts it into a folder of its
/// own and names that in the environment. In a shell there is no such folder; there NAME is taken
/// from where the service manager looks for it, so that `candled check` sees what the service will.

import Glibc

package enum CredentialFile {
  /// The entries of the file at `path`: each line's words, without blank lines and `#` comments.
  /// - Parameter words: how many words a line must have.
  /// - Throws: the file cannot be read, others can read it too, a line has other words, or its
  ///   first word, which a key is known by, is that of an earlier line.
  package static func load(
    _ name: String, words: Int
  ) throws(ConfigurationError) -> [[Secret]] {
    let path = try resolve(name)
    var entries: [[Secret]] = []
    var numbers: [Substring: Int] = [:]
    let lines = try read(path).split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      let found = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
      if found.isEmpty { continue }
      guard found.count == words, found.allSatisfy(isPrintable) else {
        let expected = words == 1 ? "one word" : "\(words) words"
        throw problem(path, line: index + 1, sentence: "expected \(expected) of printable ASCII")
      }
      if let earlier = numbers.updateValue(index + 1, forKey: found[0]) {
        throw problem(
          path, line: index + 1, sentence: "line \(index + 1) repeats line \(earlier)")
      }
      guard found.allSatisfy({ $0.utf8.count >= SecretMask.blankedBytesMin }) else {
        throw problem(
          path, line: index + 1,
          sentence: "expected \(SecretMask.blankedBytesMin) characters or more: a shorter secret "
            + "cannot be kept out of the journal")
      }
      entries.append(found.map { Secret(String($0)) })
    }
    if entries.isEmpty { throw problem(path, sentence: "contains no entry") }
    return entries
  }

  /// The one line of a file, as it stands: a password may hold spaces and `#`.
  /// - Throws: the file cannot be read, others can read it too, or it has not one line.
  package static func password(_ name: String) throws(ConfigurationError) -> Secret {
    let path = try resolve(name)
    var text = Substring(try read(path))
    if text.last?.isNewline == true { text.removeLast() }
    if text.isEmpty { throw problem(path, sentence: "is empty, expected one line") }
    guard !text.contains(where: \.isNewline), !text.contains("\0") else {
      throw problem(path, sentence: "expected one line")
    }
    guard text.utf8.count >= SecretMask.secretBytesMin else {
      throw problem(
        path,
        sentence: "expected \(SecretMask.secretBytesMin) characters or more: a shorter password "
          + "cannot be kept out of logs")
    }
    return Secret(String(text))
  }

  /// Judged as it was opened. As libpq does with keys: a group may read what root owns, which is
  /// how systemd hands out credentials; else the owner alone.
  private static func read(_ path: String) throws(ConfigurationError) -> String {
    try ConfigurationFile.read(path) { (status) throws(ConfigurationError) in
      let ofOthers: mode_t = status.st_uid == 0 ? 0o037 : 0o077
      if status.st_mode & ofOthers != 0 {
        throw problem(path, sentence: "others can read it: chmod 600")
      }
    }
  }

  static let prefix = "credential:"
  /// Where `LoadCredential=NAME` of systemd 252 looks, in this order (systemd.exec(5)).
  static let stores = ["/etc/credstore", "/run/credstore", "/usr/lib/credstore"]

  /// The file that `path`, as it stands in a setting, means.
  /// - Throws: it names a credential that is none, or that is nowhere.
  package static func resolve(_ path: String) throws(ConfigurationError) -> String {
    let given = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }
    return try resolve(path, folders: given.map { [$0] } ?? stores)
  }

  static func resolve(
    _ path: String, folders: [String]
  ) throws(ConfigurationError) -> String {
    guard path.hasPrefix(prefix) else { return path }
    let name = path.dropFirst(prefix.count)
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/") else {
      throw problem(
        path, sentence: "expected the name of a credential such as \(prefix)candled.key")
    }
    let candidates = folders.map { "\($0)/\(name)" }
    guard let found = candidates.first(where: { access($0, F_OK) == 0 }) else {
      throw problem(
        path, sentence: "is not in \(folders.joined(separator: ", ")), or may not be read")
    }
    return found
  }

  /// Of what can go into a path or a header.
  private static func isPrintable(_ word: Substring) -> Bool {
    word.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  private static func problem(
    _ path: String, line: Int? = nil, sentence: String
  ) -> ConfigurationError {
    ConfigurationError(
      code: .invalid,
      problems: [ConfigurationProblem(origin: path, line: line, key: nil, sentence: sentence)])
  }
}
