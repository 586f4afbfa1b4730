/// Why the simulator could not do what it was told.
package struct SimulatorError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The listening socket could not be made.
    case cannotListen
    /// A connection's thread could not be started.
    case cannotServe
  }

  package let code: Code
  package let sentence: String

  init(_ code: Code, sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  package var description: String { sentence }
}
