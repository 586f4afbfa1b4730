/// The OpenAPI 3.1 document of a route table. It has nothing of its own: what is not in the table
/// is not in the document.

import AppStore
import HTTPTypes

package enum OpenAPI {
  package static func document(of routes: [Route], version: String) -> [UInt8] {
    let routes = routes.filter(\.isAPI)
    let paths = Dictionary(grouping: routes, by: \.path).sorted { $0.key < $1.key }
    let used = routes.flatMap { route in
      (route.answers.map(\.schema) + [route.body, route.door?.error]).compactMap(\.self)
    }
    let named = ([Problem.shape.schema] + used).flatMap(\.named)
    let schemas = Dictionary(named.map { ($0.name, $0.schema) }) { first, _ in first }
    let shared = sharedResponses(of: routes)
    var text = JSONWriter(capacity: 64 * 1_024)
    text.object { document in
      document.member("openapi") { $0.string("3.1.0") }
      document.object("info") { info in
        info.member("title") { $0.string("candled gateway") }
        info.member("version") { $0.string(version) }
      }
      document.object("paths") { list in
        for (path, routes) in paths { list.member(named: path) { $0.write(path: routes) } }
      }
      document.object("components") { components in
        components.object("schemas") { list in
          for (name, schema) in schemas.sorted(by: { $0.key < $1.key }) {
            list.member(named: name) { schema.write(to: &$0) }
          }
        }
        components.object("responses") { list in
          for (door, statuses) in shared {
            for status in statuses { list.writeShared(status, through: door) }
          }
        }
        components.member("securitySchemes") { $0.encoded(Array(bearer.utf8)) }
      }
    }
    return text.bytes
  }

  /// By door, what its routes answer with alike.
  private static func sharedResponses(of routes: [Route]) -> [(door: Door?, statuses: [Int])] {
    Dictionary(grouping: routes) { $0.door?.path ?? "" }.sorted { $0.key < $1.key }
      .map { _, routes in (routes[0].door, Set(routes.flatMap(\.otherStatuses)).sorted()) }
  }

  /// `404`, `udf-404`.
  fileprivate static func name(of status: Int, through door: Door?) -> String {
    let name = door?.path.split(separator: "/").joined(separator: "-")
    return name.map { "\($0)-\(status)" } ?? String(status)
  }

  private static let bearer = #"{"token":{"type":"http","scheme":"bearer"}}"#
}

extension JSONWriter {
  fileprivate mutating func write(path routes: [Route]) {
    object { path in
      for route in routes.sorted(by: { $0.method.rawValue < $1.method.rawValue }) {
        path.member(named: route.method.rawValue.lowercased()) { $0.write(operation: route) }
      }
    }
  }

  private mutating func write(operation route: Route) {
    object { operation in
      operation.member("summary") { $0.string(route.summary) }
      if let scope = route.scope {
        operation.array("security") { choices in
          // Anonymous reading, where it is configured.
          if scope == .market { choices.object { _ in } }
          choices.object { $0.member("token") { $0.strings([scope.rawValue]) } }
        }
      }
      operation.list("parameters", of: route.parameters) { $0.write($1) }
      if let body = route.body {
        operation.object("requestBody") { request in
          request.member("required") { $0.boolean(body.needsText) }
          request.write(
            content: "application/json", schema: body, isClosed: true)
        }
      }
      operation.object("responses") { responses in
        for answer in route.answers { responses.write(answer, of: route) }
        for status in route.otherStatuses {
          responses.member(named: String(status)) {
            $0.reference(to: "responses/\(OpenAPI.name(of: status, through: route.door))")
          }
        }
      }
    }
  }

  fileprivate mutating func writeShared(_ status: Int, through door: Door?) {
    let name = OpenAPI.name(of: status, through: door)
    if status == 304 {
      return object(named: name) {
        $0.member("description") { $0.string("The client has it already.") }
      }
    }
    writeResponse(
      name, HTTPResponse.Status(code: status).reasonPhrase,
      door == nil ? Problem.contentType : "application/json", door?.error ?? Problem.shape.schema)
  }

  private mutating func write(_ answer: DeclaredAnswer, of route: Route) {
    let code = String(answer.status.code)
    if let schema = answer.schema {
      return writeResponse(code, "The answer.", route.contentType, schema)
    }
    object(named: code) { $0.member("description") { $0.string("Done.") } }
  }

  private mutating func writeResponse(
    _ code: String, _ description: String, _ contentType: String, _ schema: Schema
  ) {
    object(named: code) { response in
      response.member("description") { $0.string(description) }
      response.write(content: contentType, schema: schema)
    }
  }

  private mutating func write(
    content contentType: String, schema: Schema, isClosed: Bool = false
  ) {
    object("content") { content in
      content.object(named: contentType) {
        $0.member("schema") { schema.write(to: &$0, isClosed: isClosed) }
      }
    }
  }

  private mutating func write(_ parameter: Parameter) {
    member("name") { $0.string(parameter.name) }
    member("in") { $0.string(parameter.place.rawValue) }
    member("required") { $0.boolean(parameter.isRequired) }
    member("description") { $0.string(parameter.summary) }
    object("schema") { $0.write(parameter.kind) }
    if parameter.example.isEmpty { return }
    if case .integer = parameter.kind {
      member("example") { $0.encoded(Array(parameter.example.utf8)) }
    } else {
      member("example") { $0.string(parameter.example) }
    }
  }

  private mutating func write(_ kind: Parameter.Kind) {
    if case .integer(let range) = kind {
      member("type") { $0.string("integer") }
      member("minimum") { $0.integer(range.lowerBound) }
      member("maximum") { $0.integer(range.upperBound) }
      return
    }
    member("type") { $0.string("string") }
    switch kind {
    case .text(let charactersMax):
      member("maxLength") { $0.integer(Int64(charactersMax)) }
      member("pattern") { $0.string(TextPattern.anyText) }
    case .matching(let pattern): member("pattern") { $0.string(pattern.expression) }
    case .choice(let names): member("enum") { $0.strings(names) }
    case .moment:
      // `Timestamp.namedSeconds`.
      object("not") { $0.member("pattern") { $0.string("^(0001|9999)-") } }
      array("anyOf") { choices in
        for format in ["date-time", "date"] {
          choices.object { $0.member("format") { $0.string(format) } }
        }
      }
    case .day: member("format") { $0.string("date") }
    case .list(let countMax):
      member("pattern") {
        $0.string(
          TextPattern.list(countMax: countMax, charactersMax: Parameter.listItemMax))
      }
    case .choices(let names): member("pattern") { $0.string(TextPattern.choices(names)) }
    case .integer: break
    }
  }
}
