/// An answer byte by byte, for what no honest server sends: heads that lie, bodies that never end,
/// and silence in the wrong place.

/// What goes over the connection in place of an answer. Behind the last step it is closed.
package struct WireScript: Sendable, Hashable {
  package enum Step: Sendable, Hashable {
    case send([UInt8])
    /// The body the exchange would have sent.
    case sendBody
    /// Again and again, until the client hangs up.
    case sendEndlessly([UInt8])
    /// A byte at a time.
    case trickle([UInt8], everyMilliseconds: Int32)
    /// Nothing, until the client hangs up.
    case hold
    /// The close is a TCP reset.
    case reset
  }

  package var steps: [Step]

  package init(_ steps: [Step]) { self.steps = steps }

  /// Whether a client that reads to the end has the exchange's own body.
  package var deliversBody: Bool {
    steps.contains(.sendBody)
      && steps.allSatisfy { step in
        switch step {
        case .send, .sendBody: true
        case .sendEndlessly, .trickle, .hold, .reset: false
        }
      }
  }
}
