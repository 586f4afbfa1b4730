import ExchangeSimulator
import Market

/// What goes wrong at an exchange: nothing at a demo's, at a test's whatever it orders.
package protocol FaultSource: Sendable {
  /// What strikes an answer of `upstream` at `moment` about `symbols` (nil: a malformed question);
  /// nil if nothing does.
  mutating func faults(on upstream: UpstreamName, at moment: Timestamp, symbols: [Symbol]?)
    -> (any ResponseFaults)?
}

/// What strikes one answer.
package protocol ResponseFaults {
  /// The answer in place of the real one; nil if that is given.
  var refusal: SimulatedResponse? { get }

  /// The moment whose state is shown to a question at `moment`.
  func shown(at moment: Timestamp) -> Timestamp

  /// May damage an instrument's line, which stands in `body` from `start` to the end.
  /// - Parameter served: the latest stamp its lines were served with.
  /// - Returns: whether the line still counts.
  func damageLine(
    at place: Int32, showing state: InstrumentState, of market: SimulatedMarket, served: Int32,
    in body: inout [UInt8], from start: Int
  ) -> Bool

  /// May damage a finished answer of lines, and says which then no longer count.
  /// - Parameter ends: the bytes of the body that end the lines.
  /// - Returns: whether the answer can reach its client.
  func damage(_ response: inout SimulatedResponse, lines: inout ServedLines, ends: [Int]) -> Bool

  /// May damage any other finished answer.
  func damage(_ response: inout SimulatedResponse)

  /// A row of a series as it is served: none, one or two objects.
  func texts(of row: KlineRow, number: Int) -> [String]
}

/// Which of the upstreams on the port faults strike; each protocol declares its own.
package struct UpstreamName: Sendable, Hashable {
  private let text: String

  package init(_ text: String) { self.text = text }
}

extension SimulatedResponse {
  package func suffering(_ faults: (any ResponseFaults)?) -> SimulatedResponse {
    var response = self
    faults?.damage(&response)
    return response
  }
}
