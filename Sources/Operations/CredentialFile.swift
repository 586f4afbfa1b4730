/// A file of secrets, one entry a line, as `mairui.licence_file` and `alpaca.key_file` name them:
/// what systemd's LoadCredential provides, or a file that only its owner can read. What stands in
/// it must never be repeated in an error.

import Glibc

public enum CredentialFile {
  /// The entries of the file at `path`: each line's words, without blank lines and `#` comments.
  /// - Parameter words: how many words a line must have.
  /// - Throws: the file cannot be read, others can read it too, or a line has other words.
  public static func load(
    _ path: String, words: Int
  ) throws(ConfigurationError) -> [[Secret]] {
    try refuseOpenOne(path)
    var entries: [[Secret]] = []
    let lines = try ConfigurationFile.read(path).split(omittingEmptySubsequences: false) {
      $0.isNewline
    }
    for (index, line) in lines.enumerated() {
      let found = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
      if found.isEmpty { continue }
      guard found.count == words, found.allSatisfy(isPrintable) else {
        let expected = words == 1 ? "one word" : "\(words) words"
        throw problem(path, index + 1, "expected \(expected) of printable ASCII")
      }
      entries.append(found.map { Secret(String($0)) })
    }
    if entries.isEmpty { throw problem(path, nil, "holds no entry") }
    return entries
  }

  /// The one line of the file at `path`, as it stands: a password may hold spaces and `#`.
  /// - Throws: the file cannot be read, others can read it too, or it has not one line.
  public static func password(_ path: String) throws(ConfigurationError) -> Secret {
    try refuseOpenOne(path)
    var text = Substring(try ConfigurationFile.read(path))
    if text.last?.isNewline == true { text.removeLast() }
    guard !text.isEmpty, !text.contains(where: \.isNewline), !text.contains("\0") else {
      throw problem(path, nil, "expected one line")
    }
    return Secret(String(text))
  }

  private static func refuseOpenOne(_ path: String) throws(ConfigurationError) {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & 0o007 != 0 {
      throw problem(path, nil, "others can read it: chmod 600")
    }
  }

  /// Of what can go into a path or a header.
  private static func isPrintable(_ word: Substring) -> Bool {
    word.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  private static func problem(
    _ path: String, _ line: Int?, _ sentence: String
  ) -> ConfigurationError {
    ConfigurationError(
      code: .invalid,
      problems: [ConfigurationProblem(origin: path, line: line, key: nil, sentence: sentence)])
  }
}
