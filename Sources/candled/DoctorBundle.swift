/// The file for a report: a JSON object a line for each request, with the response and without
/// keys. A request is written in the words of the journal, which has no place for a key; bodies
/// and texts are masked as well.

import Commands
import Feeds
import Foundation
import Ingest
import Market
import Operations
import TerminalView
import Transport

final class DoctorBundle {
  private let path: String
  private let descriptor: Int32
  private let mask = SecretMask()

  /// - Throws: `cannotCreate` where there is such a file already, or none can be made.
  init(creating path: String, hiding configuration: ValidatedConfiguration) throws(CommandFailure) {
    configuration.register(in: mask)
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(
        status: .cannotCreate, sentence: "cannot create \(path): \(reason(errno))")
    }
  }

  deinit { close(descriptor) }

  /// - Throws: `inputOutput` where it is not all written.
  func add(_ record: DoctorRecord) throws(CommandFailure) {
    let line = Array((JSONText.object(members(of: record)) + "\n").utf8)
    guard let errorNumber = line.withUnsafeBytes({ writeAll($0, to: descriptor) }) else { return }
    throw CommandFailure(
      status: .inputOutput, sentence: "cannot write \(path): \(reason(errorNumber))")
  }

  private func members(of record: DoctorRecord) -> [(key: String, value: ResultCell)] {
    let request = record.request
    let head: [(key: String, value: ResultCell)] = [
      ("candled", .text(BuildVersion.current)), ("at", .text(record.at.description)),
      ("source", .text(request.definition.name)), ("host", .text(mask.masked(record.host))),
      ("request", .text(mask.masked("\(request.journalKey): \(request.text)"))),
    ]
    switch record.answer {
    case .failure(let error): return head + [("error", .text(error.sentence))]
    case .response(let status, var body, _, _):
      mask.blank(&body)
      let text = String(validating: body, as: UTF8.self).map(mask.masked)
      return head + [
        ("status", .integer(Int64(status))),
        text.map { ("body", .text($0)) }
          ?? ("body_base64", .text(Data(body).base64EncodedString())),
      ]
    }
  }
}
