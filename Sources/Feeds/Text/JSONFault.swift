/// Why a text is no JSON, or not the JSON that was expected, and where.
///
/// It may be logged and stored, so it names positions and expectations and never quotes the
/// text: an answer may repeat what was asked for, a licence included.

struct JSONFault: Error, Equatable, CustomStringConvertible {
  enum Reason: Equatable {
    /// The text ends inside a value.
    case endOfText
    /// Something else stands where this belongs.
    case expected(String)
    case badEscape
    /// A bare control character in a string.
    case controlCharacter
    case notUTF8
    /// More than `JSONReader.depthMax` levels.
    case tooDeep
    /// More than `JSONReader.bytesMax`.
    case tooLong
    /// A number of more digits than 64 bits and 18 places hold.
    case numberBeyondRange
  }

  let reason: Reason
  /// Bytes from the beginning of the text.
  let offset: Int

  var description: String { "byte \(offset): \(reason.sentence)" }
}

extension JSONFault.Reason {
  fileprivate var sentence: String {
    switch self {
    case .endOfText: "the text ends inside a value"
    case .expected(let what): "\(what) expected"
    case .badEscape: "an unknown escape"
    case .controlCharacter: "a control character in a string"
    case .notUTF8: "a string that is not UTF-8"
    case .tooDeep: "more than \(JSONReader.depthMax) levels"
    case .tooLong: "more than \(JSONReader.bytesMax >> 20) MiB"
    case .numberBeyondRange: "a number with too many digits"
    }
  }
}
