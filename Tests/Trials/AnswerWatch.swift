import Foundation
import Glibc
import Platform
import TestSupport

/// Asks for a page on a new connection, ten times a second.
final class AnswerWatch: Sendable {
  struct Answers: Sendable {
    fileprivate var milliseconds: [Int64] = []
    fileprivate(set) var missing = 0
    fileprivate var isStopped = false
    fileprivate var isOver = false

    var count: Int { milliseconds.count }
    var slowest: Int64 { milliseconds.max() ?? 0 }
    var median: Int64 { milliseconds.isEmpty ? 0 : milliseconds.sorted()[count / 2] }
  }

  private let answers = Locked(Answers())

  /// - Parameter headers: each with its end of line.
  init(_ page: String, headers: String = "", port: UInt16, secondsMax: Int) {
    let head =
      "GET \(page) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\(headers)\r\n"
    Thread.detachNewThread { @Sendable [answers] in
      while !answers.withLock({ $0.isStopped }) {
        let began = MonotonicClock.milliseconds()
        let page = AdminScraper.answer(to: Array(head.utf8), port: port, secondsMax: secondsMax)
        let took = MonotonicClock.milliseconds() - began
        answers.withLock { answers in
          if page?.starts(with: "HTTP/1.1 200".utf8) == true {
            answers.milliseconds.append(took)
          } else {
            answers.missing += 1
          }
        }
        usleep(100_000)
      }
      answers.withLock { $0.isOver = true }
    }
  }

  func stop() -> Answers {
    answers.withLock { $0.isStopped = true }
    while !answers.withLock({ $0.isOver }) { usleep(10_000) }
    return answers.withLock { $0 }
  }
}
