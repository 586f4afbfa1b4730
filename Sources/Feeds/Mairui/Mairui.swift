/// Mairui: lists of the mainland's stocks, for a licence with a daily quota
/// (docs/sources/mairui.md).

import Market

package struct Mairui: SourceDefinition {
  static let source = Source(rawValue: 2)

  package let name = "mairui"
  package let title = "Mairui"
  package let market = MarketDefinition.mainlandChina
  package let settings = MairuiSettings.section
  package let series = [SourceSeries(Mairui.source, name: "mairui", instruments: .live)]
  package let credentials: CredentialDeclaration? = CredentialDeclaration(
    file: MairuiSettings.licenceFile, words: 1, requestsPerDay: MairuiSettings.requestsPerDay,
    noun: "licence")
  package let workerName = "lists"
  package let pace = RequestPace(
    requestsPerMinute: nil, requestsPerMinuteMax: 10, burst: 2, inFlightMax: 1)
  package let lists: ListsDeclaration? = ListsDeclaration(
    parts: MairuiBoard.allCases.map(\.part), sampleRows: Mairui.sampleRows)

  /// The sample licence answers everything with these (docs/sources/mairui.md#licence).
  private static let sampleRows = [Symbol("sz000001")].compactMap(\.self)

  package var samples: [ResponseSample] {
    [
      ResponseSample("list", examples: ["list.json": "a list of instruments"]) { body, status, _ in
        MairuiListJSON.write(body: body, status: status)
      }
    ]
  }

  package let hosts: [HostSetting] = [
    .several(MairuiSettings.bases)
  ]

  package func hosts(of query: FeedQuery) -> HostSetting { .several(MairuiSettings.bases) }

  package func journalKey(of query: FeedQuery) -> String { "list/\(board(of: query).rawValue)" }

  /// `list hslt`
  package func text(of query: FeedQuery, from source: Source) -> String {
    "list \(board(of: query).rawValue)"
  }

  package func query(reading words: [Substring], from source: Source) -> FeedQuery? {
    guard words.count == 2, words[0] == "list" else { return nil }
    return MairuiBoard(rawValue: String(words[1])).map { .list($0.part) }
  }

  package func endpoint(
    of query: FeedQuery, from source: Source, credentials: FeedCredentials?
  ) -> Endpoint {
    guard let licence = credentials?.words.first, !licence.isEmpty else {
      preconditionFailure("Mairui is asked with a licence")
    }
    return board(of: query).endpoint(licence: licence)
  }

  package func decode(
    _ body: UnsafeRawBufferPointer, status: Int, of query: FeedQuery, from source: Source,
    calendar: TradingCalendar
  ) throws(FeedRefusal) -> FeedResponse {
    .list(try MairuiList.decode(body, status: status))
  }

  private func board(of query: FeedQuery) -> MairuiBoard {
    guard case .list(let part) = query, let board = MairuiBoard(rawValue: part.name) else {
      preconditionFailure("not among Mairui's queries")
    }
    return board
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
