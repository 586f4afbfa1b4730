/// Why the simulator could not do what it was told.
public struct SimulatorError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable {
    /// The system has no converter to GB18030.
    case noConverter
    /// The listening socket could not be made.
    case cannotListen
    /// A connection's thread could not be started.
    case cannotServe
  }

  public let code: Code
  public let sentence: String

  init(_ code: Code, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  public var description: String { sentence }
}
