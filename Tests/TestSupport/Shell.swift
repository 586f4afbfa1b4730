import Glibc

package enum Shell {
  /// What a command prints; nil if it failed. Blocks until it has ended.
  package static func output(of command: String) -> [UInt8]? {
    guard let stream = popen(command, "r") else { return nil }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&chunk, 1, chunk.count, stream), count > 0 {
      bytes += chunk[..<count]
    }
    return pclose(stream) == 0 ? bytes : nil
  }
}
