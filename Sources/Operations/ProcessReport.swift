/// What the kernel says of this process, from /proc/self.

import Glibc

public struct ProcessReport: Sendable, Hashable {
  public var residentBytes: Int64
  public var virtualBytes: Int64
  public var openDescriptors: Int64
  public var descriptorsMax: Int64
  public var threads: Int64
  /// User and system together.
  public var processorMicroseconds: Int64
  /// Since 1970; of the kernel's own accuracy, a hundredth of a second.
  public var startedAtMicroseconds: Int64

  /// Nothing known.
  public static let none = ProcessReport(stat: "", descriptors: 0, limit: 0, bootedAt: 0)

  /// Of this process, now.
  public init() {
    var limit = rlimit()
    getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    self.init(
      stat: Self.text(of: "/proc/self/stat"), descriptors: Self.descriptorCount(),
      limit: Int64(clamping: limit.rlim_cur), bootedAt: Self.bootedAt())
  }

  /// - Parameter stat: proc(5), /proc/pid/stat.
  init(stat: String, descriptors: Int64, limit: Int64, bootedAt: Int64) {
    // The second field is the program's name in parentheses, which may hold anything.
    let tail = stat.lastIndex(of: ")").map { stat[stat.index(after: $0)...] } ?? ""
    let fields = tail.split(separator: " ")
    func field(_ number: Int) -> Int64 {
      let place = number - Self.firstFieldAfterName
      return fields.indices.contains(place) ? Int64(fields[place]) ?? 0 : 0
    }
    let microsecondsPerTick = 1_000_000 / max(Int64(sysconf(Int32(_SC_CLK_TCK))), 1)
    residentBytes = field(24) * Int64(sysconf(Int32(_SC_PAGESIZE)))
    virtualBytes = field(23)
    threads = field(20)
    processorMicroseconds = (field(14) + field(15)) * microsecondsPerTick
    startedAtMicroseconds =
      fields.isEmpty ? 0 : bootedAt * 1_000_000 + field(22) * microsecondsPerTick
    openDescriptors = descriptors
    descriptorsMax = limit
  }

  private static let firstFieldAfterName = 3
  /// /proc/stat has a line for all interrupts, which is long on a large machine.
  private static let textBytesMax = 1 << 20

  /// The one used to look is not counted.
  private static func descriptorCount() -> Int64 {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count: Int64 = 0
    while let entry = readdir(folder) {
      if entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
    }
    return max(count - 1, 0)
  }

  private static func bootedAt() -> Int64 {
    let lines = text(of: "/proc/stat").split(separator: "\n")
    let line = lines.first { $0.hasPrefix("btime ") }
    return line.flatMap { Int64($0.dropFirst("btime ".count)) } ?? 0
  }

  private static func text(of path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var text: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 16_384)
    while text.count < textBytesMax {
      let count = read(file, &block, block.count)
      guard count > 0 else { break }
      text += block.prefix(count)
    }
    return String(decoding: text, as: UTF8.self)
  }
}
