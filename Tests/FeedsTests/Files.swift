import Glibc

/// Files beside the tests, found by where this source lies.
enum Files {
  static let tests = folder(of: #filePath)
  static let fixtures = tests + "/Fixtures"
  static let golden = tests + "/Golden"
  /// Payloads collected from public sources; not part of the project, present on some machines.
  /// Beside the checkout, or beside the folder its worktrees share.
  static let collected = {
    let root = folder(of: folder(of: tests))
    let places = ["/../shared/payloads", "/../../shared/payloads"].map { root + $0 }
    return places.first(where: exists) ?? places[0]
  }()
  static let payloads = collected + "/sina"
  static let tencent = collected + "/tencent"

  static let fileBytesMax = 1 << 20

  static func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: fileBytesMax)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
  }

  static func write(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let written = fwrite(text, 1, text.utf8.count, file)
    return fclose(file) == 0 && written == text.utf8.count
  }

  static func exists(_ path: String) -> Bool { access(path, R_OK) == 0 }

  static func fixture(_ name: String) throws -> [UInt8] {
    guard let bytes = read(fixtures + "/" + name) else { throw MissingFile(path: name) }
    return bytes
  }

  private static func folder(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
  }
}

struct MissingFile: Error {
  let path: String
}
