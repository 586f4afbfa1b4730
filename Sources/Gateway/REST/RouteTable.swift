/// Finds the route of a request, checks every argument before the handler sees it, and answers
/// what has no handler: unknown paths, other methods, HEAD, OPTIONS, what the client has already.

import Foundation
import HTTPServing
import HTTPTypes
import Logging
import Market
import NIOCore

package struct RouteTable: Sendable {
  /// Of a request's target: 500 symbols with their commas are 4.5 kB.
  static let targetBytesMax = 8 * 1024
  package static let bodyBytesMax = 64 * 1024

  package let routes: [Route]
  private let doors: [Door]
  private let access: AccessMiddleware?
  private let counters: RequestCounters

  /// - Parameter access: nil: everybody may do everything. It sees each request, those of unknown
  ///   paths as well, and each answer, problems as well.
  package init(_ routes: [Route], access: AccessMiddleware?, counters: RequestCounters) {
    let names = routes.map { "\($0.method) \($0.path)" }
    precondition(Set(names).count == names.count, "two routes answer the same requests")
    self.routes = routes
    doors = Dictionary(routes.compactMap(\.door).map { ($0.path, $0) }) { first, _ in first }
      .map(\.value)
    self.access = access
    self.counters = counters
  }

  package func respond(to request: Request, context: GatewayContext) async -> Answer {
    let begun = ContinuousClock.now
    var context = context
    let target = request.target
    context.door = doors.first { $0.leads(to: target) }
    let found: Found =
      request.isHostClear ? find(target, of: request) : .problem(.hostExpected)
    if case .route(let route, let values) = found {
      context.route = route
      context.cost = (try? values.get()).map(route.cost) ?? route.cost
    }
    let answer =
      if let access {
        await access.handle(request, context: context) { context in
          await settle(found, request: request, context: context)
        }
      } else {
        await settle(found, request: request, context: context)
      }
    counters.count(answer, to: context.route, after: begun.duration(to: .now))
    return answer.ready(for: request)
  }

  /// What a connection does with a request. /livez is answered at once, also while every thread of
  /// the concurrency pool hangs.
  func respond(
    to request: Request, context: GatewayContext, reply: @escaping HTTPExchange.Reply
  ) {
    if request.target == "/livez", request.method == .get, request.isHostClear {
      return reply(ServiceRoutes.alive.ready(for: request).http)
    }
    // Unstructured: the thread goes on with other connections.
    Task { reply(await respond(to: request, context: context).http) }
  }

  private enum Found {
    /// Its arguments, or what is wrong with them.
    case route(Route, Result<[String: String], Problem>)
    case otherMethods([HTTPRequest.Method])
    case problem(Problem)
  }

  private func find(_ target: String, of request: Request) -> Found {
    guard target.utf8.count <= Self.targetBytesMax else {
      return .problem(
        Problem(
          .uriTooLong, code: "target_too_long",
          title: "Path and query have more than \(Self.targetBytesMax) bytes."))
    }
    let path = target.prefix { $0 != "?" }
    let query = target.dropFirst(path.count).dropFirst()
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let matches = routes.compactMap { route in route.match(parts).map { (route, $0) } }
    guard !matches.isEmpty else { return .problem(.notFound) }
    // A path that is spelled out comes before one with a parameter.
    let fitting = matches.filter { $0.0.methods.contains(request.method) }
    if let (route, path) = fitting.min(by: { $0.1.count < $1.1.count }) {
      let values = Result { () throws(Problem) in
        try route.values(path: path, query: String(query)) { name in
          HTTPField.Name(name).flatMap { request.headers[$0] }
        }
      }
      return .route(route, values)
    }
    return .otherMethods(matches.flatMap(\.0.methods) + [.options])
  }

  private func settle(
    _ found: Found, request: Request, context: GatewayContext
  ) async -> Answer {
    do {
      return try await answer(found, request: request, context: context)
    } catch let problem as Problem {
      return Answer(problem, through: context.door)
    } catch {
      context.log.error("a request failed", metadata: ["error": "\(type(of: error))"])
      return Answer(.internalError, through: context.door)
    }
  }

  private func answer(
    _ found: Found, request: Request, context: GatewayContext
  ) async throws -> Answer {
    switch found {
    case .problem(let problem): throw problem
    case .otherMethods(let methods):
      let allow: HTTPFields = [.allow: methods.map(\.rawValue).joined(separator: ", ")]
      if request.method == .options { return Answer(status: .noContent, headers: allow) }
      throw Problem(
        .methodNotAllowed, code: "method_not_allowed",
        title: "This path does not take \(request.method.rawValue.prefix(20)).", headers: allow)
    case .route(let route, let values):
      var arguments = try await arguments(try values.get(), of: request, route: route)
      arguments.principal = context.principal
      let answer = try await route.handler(arguments)
      return answer.unlessKnown(as: request.headers[.ifNoneMatch])
    }
  }

  private func arguments(
    _ values: [String: String], of request: Request, route: Route
  ) async throws -> Arguments {
    guard let schema = route.body else {
      try await requireNothing(in: request, of: route)
      return Arguments(values, body: [])
    }
    let body = try await Self.body(of: request)
    // Of a body whose type is not said nothing else can be meant.
    let type = request.headers[.contentType].map { $0.prefix { $0 != ";" && $0 != " " } }
    if body.readableBytes > 0, let type, type.lowercased() != "application/json" {
      throw Problem.otherContent
    }
    if let fault = schema.strangeField(in: Data(body.readableBytesView)) {
      throw Problem.invalidBody(fault, status: route.door?.refusal ?? .badRequest)
    }
    return Arguments(values, body: Array(body.readableBytesView))
  }

  /// What is sent to a route that takes no body would be ignored without a word.
  private func requireNothing(in request: Request, of route: Route) async throws {
    if route.method == .get { return }
    let body = try await Self.body(of: request)
    if ["", "{}", "null"].contains(String(buffer: body).filter { !$0.isWhitespace }) {
      return
    }
    throw Problem.invalidBody(
      Problem.Fault(field: "body", expected: "none", found: "one"),
      status: route.door?.refusal ?? .badRequest)
  }

  private static func body(of request: Request) async throws(Problem) -> ByteBuffer {
    guard let body = try? await request.body() else { throw .bodyIncomplete }
    guard body.readableBytes <= bodyBytesMax else { throw .bodyTooLarge(bytesMax: bodyBytesMax) }
    return body
  }
}

extension Route {
  /// What a request is answered with: of GET, HEAD too.
  fileprivate var methods: [HTTPRequest.Method] {
    method == .get && !isStream ? [.get, .head] : [method]
  }

  /// The arguments of a request, by name.
  /// - Parameters:
  ///   - path: still percent-encoded, as the query.
  ///   - header: the value of a field of the head.
  func values(
    path: [String: String], query: String, header: (String) -> String?
  ) throws(Problem) -> [String: String] {
    var reading = ArgumentReading(route: self)
    for parameter in parameters where parameter.place == .path {
      if let value = path[parameter.name] {
        reading.take(parameter.name, value: value, from: .path)
      }
    }
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? String(parts[1]).replacing("+", with: "%20") : ""
      reading.take(String(parts[0]), value: value, from: .query)
    }
    for parameter in parameters where parameter.place == .header {
      if let value = header(parameter.name) {
        reading.take(parameter.name, value: value, from: .header)
      }
    }
    return try reading.finish()
  }
}

/// Reads arguments and gathers everything that is wrong with them, so that a client learns it at
/// once.
private struct ArgumentReading {
  let route: Route
  private var values: [String: String] = [:]
  private var faults: [Problem.Fault] = []
  /// How many of them are in the path.
  private var pathFaults = 0
  private static let faultsMax = 10

  init(route: Route) { self.route = route }

  mutating func take(_ name: String, value encoded: String, from place: Parameter.Place) {
    guard faults.count < Self.faultsMax else { return }
    let before = faults.count
    defer { if place == .path { pathFaults += faults.count - before } }
    guard let parameter = route.parameters.first(where: { $0.name == name && $0.place == place })
    else {
      let known = route.parameters.filter { $0.place == .query }.map(\.name)
      let expected = known.isEmpty ? "no parameters" : "one of \(known.joined(separator: ", "))"
      faults.append(Problem.Fault(field: name, expected: expected, found: encoded))
      return
    }
    let isPlain = !encoded.utf8.contains(UInt8(ascii: "%"))
    guard let value = isPlain ? encoded : encoded.removingPercentEncoding,
      !value.utf8.contains(0)
    else {
      faults.append(
        Problem.Fault(field: name, expected: "percent-encoded UTF-8", found: encoded))
      return
    }
    if values[name] != nil {
      faults.append(Problem.Fault(field: name, expected: "one value", found: value))
    } else if let fault = parameter.fault(of: value) {
      faults.append(fault)
    } else {
      values[name] = value
    }
  }

  func finish() throws(Problem) -> [String: String] {
    let missing = route.parameters.filter { parameter in
      parameter.isRequired && values[parameter.name] == nil
        && !faults.contains { $0.field == parameter.name }
    }
    let all =
      faults
      + missing.map { Problem.Fault(field: $0.name, expected: "a value", found: "") }
    if all.isEmpty { return values }
    // Where nothing else is wrong, a path with what its parameter cannot be is the path of nothing.
    if pathFaults == all.count {
      var problem = Problem.notFound
      problem.faults = all
      throw problem
    }
    throw .invalid(all)
  }
}
