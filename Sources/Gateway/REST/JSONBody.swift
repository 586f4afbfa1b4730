import Foundation
import HTTPTypes

/// The body of a request. What is wrong with it is told by field.
enum JSONBody {
  /// - Parameter status: of the refusal.
  /// - Throws: what the first field is that is not as expected.
  static func decode<Body: Decodable>(
    _ type: Body.Type, from json: Data, orElse status: HTTPResponse.Status = .badRequest
  ) throws(Problem) -> Body {
    do {
      return try JSONDecoder().decode(type, from: json)
    } catch {
      if let fault = (error as? DecodingError).flatMap({ firstFault(of: $0) }) {
        throw .invalidBody(fault, status: status)
      }
      throw Problem(
        status, code: "invalid_argument", title: "The body is not the JSON that is expected.")
    }
  }

  /// nil of a body that is no JSON, or no object. What was sent may be a secret at a wrong place:
  /// it is not sent back.
  private static func firstFault(of error: DecodingError) -> Problem.Fault? {
    switch error {
    case .keyNotFound(let key, let context):
      return fault(at: context.codingPath + [key], expected: "a value", found: "nothing")
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
      return fault(at: context.codingPath, expected: name(of: type))
    case .dataCorrupted(let context):
      return fault(at: context.codingPath, expected: "one of the values in /v1/openapi.json")
    @unknown default: return nil
    }
  }

  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is any BinaryInteger.Type: "a whole number"
    case is any Sequence.Type: "an array"
    default: "an object"
    }
  }

  private static func fault(
    at path: [any CodingKey], expected: String, found: String = "another value"
  ) -> Problem.Fault? {
    if path.isEmpty { return nil }
    let field = path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
      .joined(separator: ".").replacing(".[", with: "[")
    return Problem.Fault(field: field, expected: expected, found: found)
  }
}
