import Foundation
import Glibc
import TestSupport
import Testing

@testable import Operations

@Suite struct CredentialFileTests {
  private func load(
    _ text: String, mode: Int = 0o600, words: Int = 1
  ) throws -> Result<[[String]], ConfigurationError> {
    let path = FileManager.default.temporaryDirectory.path + "/licences-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    do throws(ConfigurationError) {
      return .success(try CredentialFile.load(path, words: words).map { $0.map { $0.reveal() } })
    } catch {
      return .failure(error)
    }
  }

  @Test func `each line is an entry, blank lines and comments are none`() throws {
    let entries = try load("# ours\nAF98235C-1\n\n b997d440 # the old one\n").get()
    #expect(entries == [["AF98235C-1"], ["b997d440"]])
    let pairs = try load("PKEY0001 secret/with+signs=\n", words: 2).get()
    #expect(pairs == [["PKEY0001", "secret/with+signs="]])
  }

  @Test(arguments: [
    ("canary-1 canary-2\n", 1, "1: expected one word of printable ASCII"),
    ("# x\ncanary-1\n", 2, "2: expected 2 words of printable ASCII"),
    ("canary-é\n", 1, "1: expected one word of printable ASCII"), ("#\n", 1, "contains no entry"),
    ("canary-1\ncanary-1\n", 1, "2: line 2 repeats line 1"),
    ("canary-1 # a\n\n# b\ncanary-1\n", 1, "4: line 4 repeats line 1"),
    ("canary-1 canary-2\ncanary-1 canary-3\n", 2, "2: line 2 repeats line 1"),
  ])
  func `a bad line is named and not repeated`(
    _ text: String, _ words: Int, _ expected: String
  ) throws {
    guard case .failure(let error) = try load(text, words: words) else {
      Issue.record("accepted")
      return
    }
    #expect("\(error)".contains(expected), "\(error)")
    #expect(!"\(error)".contains("canary"))
  }

  @Test func `a file that everybody can read is refused`() throws {
    guard case .failure(let error) = try load("canary-1\n", mode: 0o644) else {
      Issue.record("accepted")
      return
    }
    #expect("\(error)".contains("chmod 600"))
    #expect(try load("canary-1\n", mode: 0o400).get() == [["canary-1"]])
  }

  @Test func `a group may read what root owns and nothing else`() throws {
    func isLoaded(mode: Int, owner: UInt32) throws -> Bool {
      let path = FileManager.default.temporaryDirectory.path + "/licences-\(UUID())"
      defer { try? FileManager.default.removeItem(atPath: path) }
      try Data("canary-1\n".utf8).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      if chown(path, owner, .max) != 0 { return mode & 0o077 == 0 || owner == 0 }
      return (try? CredentialFile.load(path, words: 1)) != nil
    }
    #expect(try isLoaded(mode: 0o600, owner: 1_234) && isLoaded(mode: 0o640, owner: 0))
    #expect(try !isLoaded(mode: 0o640, owner: 1_234) && !isLoaded(mode: 0o660, owner: 1_234))
    #expect(try isLoaded(mode: 0o440, owner: 0))
  }

  @Test(arguments: ["a", "1234567", "1234567 12345678"])
  func `a secret too short to be kept out of the journal is refused`(_ text: String) throws {
    let words = text.split(separator: " ").count
    guard case .failure(let error) = try load(text, words: words) else {
      Issue.record("accepted")
      return
    }
    #expect("\(error)".contains("1: expected 8 characters or more"), "\(error)")
    #expect(try load("12345678 12345678", words: 2).get().count == 1)
  }

  private func password(_ text: String, mode: Int = 0o600) throws -> String {
    let path = FileManager.default.temporaryDirectory.path + "/password-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return try CredentialFile.password(path).reveal()
  }

  @Test(arguments: [
    ("canary", "canary"), ("canary\n", "canary"), (" two words # both \n", " two words # both "),
  ])
  func `a password is its file's one line, as it stands`(
    _ text: String, _ expected: String
  ) throws {
    #expect(try password(text) == expected)
    #expect(try password(text, mode: 0o640) == expected)
  }

  @Test(arguments: [
    ("abc", 0o600, "expected 4 characters or more: a shorter password cannot be kept out of logs"),
    ("", 0o600, "is empty, expected one line"), ("\n", 0o600, "is empty, expected one line"),
    ("canary\n\n", 0o600, "expected one line"), ("canary\nb\n", 0o600, "expected one line"),
    ("canary\n", 0o604, "others can read it: chmod 600"),
    ("canary\n", 0o666, "others can read it: chmod 600"),
  ])
  func `a bad file of a password is named, and what stands in it is not`(
    _ text: String, _ mode: Int, _ expected: String
  ) {
    let error = #expect(throws: ConfigurationError.self) { try password(text, mode: mode) }
    let sentence = error.map { "\($0)" } ?? ""
    #expect(sentence.hasSuffix(": \(expected)") && sentence.contains("/password-"), "\(sentence)")
    #expect(!sentence.contains("canary"))
  }

  @Test func `a credential is the first file of its name in the folders`() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/credentials-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for name in ["a", "b"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/b/candled.alpaca"))
    let folders = ["\(folder)/a", "\(folder)/b"]
    let path = try CredentialFile.resolve("credential:candled.alpaca", folders: folders)
    #expect(path == "\(folder)/b/candled.alpaca")
    let error = #expect(throws: ConfigurationError.self) {
      try CredentialFile.resolve("credential:candled.mairui", folders: folders)
    }
    #expect(
      "\(try #require(error))".hasPrefix("credential:candled.mairui: is not in \(folder)"))
  }

  @Test(arguments: ["credential:", "credential:../shadow", "credential:a/b", "credential:.a"])
  func `a credential has a name, not a path`(_ path: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try CredentialFile.resolve(path, folders: ["/etc"])
    }
    #expect(error?.description.contains("expected the name of a credential") == true)
  }

  @Test(arguments: ["/etc/candled/key", "key", "credentials/key"])
  func `any other path is left as it is`(_ path: String) throws {
    #expect(try CredentialFile.resolve(path, folders: []) == path)
  }
}
