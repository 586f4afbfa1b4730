/// Mairui: lists of the mainland's stocks, for a licence with a daily quota
/// (docs/sources/mairui.md).

import Market

package struct Mairui: ListSource {
  static let source = Source(rawValue: 2)

  package let name = "mairui"
  package let title = "Mairui"
  package let market = MarketDefinition.mainlandChina
  package let settings = MairuiSettings.section
  package let series = [SourceSeries(Mairui.source, name: "mairui", instruments: .live)]
  package let credentials: CredentialDeclaration? = CredentialDeclaration(
    file: MairuiSettings.licenceFile, words: 1, requestsPerDay: MairuiSettings.requestsPerDay,
    noun: "licence", ends: MairuiSettings.licenceEnds)
  package let workerName = "lists"
  package let pace = RequestPace(
    requestsPerMinute: nil, requestsPerMinuteMax: 10, burst: 2, inFlightMax: 1)
  package let lists: ListsDeclaration? = ListsDeclaration(
    parts: MairuiBoard.allCases.map(\.part), sampleRows: Mairui.sampleRows)

  /// The sample licence answers everything with these (docs/sources/mairui.md#licence).
  private static let sampleRows = [Symbol("sz000001")].compactMap(\.self)

  package let hosts: [HostSetting] = [
    .several(MairuiSettings.bases)
  ]

  package func query(reading words: [Substring], from source: Source) -> FeedQuery? {
    guard words.count == 2, words[0] == "list" else { return nil }
    return MairuiBoard(rawValue: String(words[1])).map { .list($0.part) }
  }

  /// `list hslt`
  package func listRequest(of part: ListPart) -> SourceRequest {
    guard let board = MairuiBoard(rawValue: part.name) else {
      preconditionFailure("\(part.name) is no list of Mairui's")
    }
    return SourceRequest(
      hosts: .several(MairuiSettings.bases), journalKey: "list/\(board.rawValue)",
      text: { "list \(board.rawValue)" },
      endpoint: { credentials in
        guard let licence = credentials?.words.first, !licence.isEmpty else {
          preconditionFailure("Mairui is asked with a licence")
        }
        return board.endpoint(licence: licence)
      },
      decode: { (body, status, _) throws(FeedRefusal) -> FeedResponse in
        .list(try MairuiList.decode(body, status: status))
      })
  }
}

extension MairuiBoard {
  package var part: ListPart {
    switch self {
    case .hslt: ListPart(name: rawValue, allOf: [.shanghai, .shenzhen])
    case .bj: ListPart(name: rawValue, allOf: [.beijing])
    }
  }
}
