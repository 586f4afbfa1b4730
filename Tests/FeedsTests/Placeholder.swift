import Feeds
import Glibc
import Testing

@Suite struct Scratch {
  @Test func `print the payloads`() throws {
    let folder = "/work/shared/payloads/sina"
    guard let directory = opendir(folder) else { return }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    for name in names.sorted() where name.hasSuffix(".txt") || name.hasSuffix(".json") {
      guard let file = fopen(folder + "/" + name, "r") else { continue }
      var bytes = [UInt8](repeating: 0, count: 200_000)
      let count = fread(&bytes, 1, bytes.count, file)
      fclose(file)
      let (lines, exit) = bytes.withUnsafeBytes {
        SinaQuotesJSON.write(body: UnsafeRawBufferPointer(rebasing: $0.prefix(count)), status: 200)
      }
      puts("=== \(name) \(exit)")
      for line in lines { puts(line) }
    }
  }
}
