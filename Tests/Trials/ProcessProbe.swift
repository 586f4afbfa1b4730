import Foundation
import Glibc

/// What `/proc` tells of a process.
package struct ProcessProbe: Sendable {
  package var residentKibibytes = 0
  /// The most it ever was.
  package var peakKibibytes = 0
  /// Of it, what is its own: without the pages of its program that it has run through.
  package var ownKibibytes = 0
  package var threads = 0
  package var descriptors = 0

  package var mebibytes: Double { Double(residentKibibytes) / 1024 }

  /// nil when there is no such process.
  package init?(_ process: pid_t) {
    guard
      let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    else { return nil }
    for line in status.split(separator: "\n") {
      let words = line.split { " \t".contains($0) }
      guard words.count > 1, let number = Int(words[1]) else { continue }
      if words[0] == "VmRSS:" { residentKibibytes = number }
      if words[0] == "VmHWM:" { peakKibibytes = number }
      if words[0] == "RssAnon:" { ownKibibytes = number }
      if words[0] == "Threads:" { threads = number }
    }
    descriptors = files.count
    if residentKibibytes == 0 { return nil }
  }
}
