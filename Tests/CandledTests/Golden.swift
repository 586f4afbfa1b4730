/// Expected outputs on disk, in `Golden/` beside this file. `CANDLED_RECORD=1 swift test` writes
/// them anew; then read the difference before it is committed.

import Glibc
import Testing

enum Golden {
  static func expect(
    _ actual: String, matches name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let folder = String(#filePath.dropLast("Golden.swift".count))
    let path = folder + "Golden/" + name
    if getenv("CANDLED_RECORD") != nil { return write(actual, to: path) }
    #expect(actual == read(path), "differs from \(name)", sourceLocation: sourceLocation)
  }

  private static func read(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  private static func write(_ text: String, to path: String) {
    guard let file = fopen(path, "w") else {
      Issue.record("cannot write \(path)")
      return
    }
    defer { fclose(file) }
    fputs(text, file)
  }
}
