import Foundation
import Operations
import TestSupport
import Testing

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
    let pairs = try load("KEY secret/with+signs=\n", words: 2).get()
    #expect(pairs == [["KEY", "secret/with+signs="]])
  }

  @Test(arguments: [
    ("canary-1 canary-2\n", 1, "1: expected one word of printable ASCII"),
    ("# x\ncanary-1\n", 2, "2: expected 2 words of printable ASCII"),
    ("canary-é\n", 1, "1: expected one word of printable ASCII"), ("#\n", 1, "holds no entry"),
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
    guard case .failure(let error) = try load("canary\n", mode: 0o644) else {
      Issue.record("accepted")
      return
    }
    #expect("\(error)".contains("chmod 600"))
    #expect(try load("canary\n", mode: 0o440).get() == [["canary"]])
  }
}
