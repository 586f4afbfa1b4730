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
  private let file: OutputFile
  private let mask = SecretMask()

  /// - Throws: `cannotCreate` where there is such a file already, or none can be made.
  init(creating path: String, hiding configuration: ValidatedConfiguration) throws(CommandFailure) {
    configuration.register(in: mask)
    file = try OutputFile(path, isNew: true)
  }

  func add(_ record: DoctorRecord) throws(CommandFailure) {
    try file.write(Array((JSONText.object(members(of: record)) + "\n").utf8))
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
