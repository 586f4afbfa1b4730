import AppStore
import HTTPTypes
import Market

/// The user's webhooks.
extension UserRoutes {
  var ofWebhooks: [Route] {
    [
      route(
        .get, path: "/v1/webhooks",
        answer: .object([.init("webhooks", .array(of: Self.webhook))]),
        summary: "The user's webhooks, and how their deliveries went."
      ) { (routes, request) throws(Problem) in try await routes.webhooks(request) },
      route(
        .post, path: "/v1/webhooks", status: .created, answer: Self.made, body: Self.address,
        summary: "Makes a webhook: from now on each notification is sent to its URL, signed as "
          + "Standard Webhooks has it. The secret is shown this once.",
        problems: [.conflict]
      ) { (routes, request) throws(Problem) in try await routes.makeWebhook(request) },
      route(
        .get, path: "/v1/webhooks/{id}", answer: Self.webhook, summary: "One webhook.",
        problems: [.notFound]
      ) { (routes, request) throws(Problem) in try await routes.webhook(request) },
      route(
        .put, path: "/v1/webhooks/{id}", answer: Self.webhook, body: Self.address,
        summary: "Gives a webhook another URL, or the same; one that is disabled is enabled again, "
          + "and gets what it missed.",
        problems: [.notFound, .conflict]
      ) { (routes, request) throws(Problem) in try await routes.replaceWebhook(request) },
      route(
        .delete, path: "/v1/webhooks/{id}", status: .noContent, answer: nil,
        summary: "Deletes a webhook. Deleting it again is no error."
      ) { (routes, request) throws(Problem) in try await routes.deleteWebhook(request) },
    ]
  }

  private static let address = Schema.object([.init("url", .matching(WebhookRule.pattern))])
  private static let members: [Schema.Member] = [
    .init("id", .string), .init("url", .string), .init("state", .choice(["active", "disabled"])),
    .init("createdAt", .moment), .init("lastDeliveredAt", .nullable(.moment)),
    .init("failures", .integer), .init("lastError", .optionalString),
    .init("retryAt", .nullable(.moment)), .init("disabledAt", .nullable(.moment)),
  ]
  private static let webhook = Schema.named("Webhook", .object(members))
  private static let made = Schema.object(members + [.init("secret", .string)])

  // MARK: Answers

  private func webhooks(_ request: UserRequest) async throws(Problem) -> Answer {
    let webhooks = try await change(request) { (table) throws(AppStoreError) in try table.all() }
    return .own { writer in
      writer.object { object in
        object.member("webhooks") { member in
          member.array { array in
            for webhook in webhooks { array.object { webhook.writeMembers(to: &$0) } }
          }
        }
      }
    }
  }

  private func webhook(_ request: UserRequest) async throws(Problem) -> Answer {
    let id = request.id
    let webhook = try await change(request) { (table) throws(AppStoreError) in
      guard let found = try table.all().first(where: { $0.id == id }) else {
        throw .unknownWebhook(id)
      }
      return found
    }
    return .own { writer in writer.object { webhook.writeMembers(to: &$0) } }
  }

  private func makeWebhook(_ request: UserRequest) async throws(Problem) -> Answer {
    let url = try url(request)
    var generator = SystemRandomNumberGenerator()
    let secret = WebhookSecret(using: &generator)
    let webhook = try await change(request) { (table) throws(AppStoreError) in
      try table.create(url: url, secret: secret.bytes)
    }
    return .own(.created, location: "/v1/webhooks/\(webhook.id)") { writer in
      writer.object { object in
        webhook.writeMembers(to: &object)
        object.member("secret") { $0.string(secret.reveal()) }
      }
    }
  }

  private func replaceWebhook(_ request: UserRequest) async throws(Problem) -> Answer {
    let (id, url) = (request.id, try url(request))
    let webhook = try await change(request) { (table) throws(AppStoreError) in
      try table.replace(id, url: url)
    }
    return .own { writer in writer.object { webhook.writeMembers(to: &$0) } }
  }

  private func deleteWebhook(_ request: UserRequest) async throws(Problem) -> Answer {
    let id = request.id
    try await change(request) { (table) throws(AppStoreError) in try table.delete(id) }
    return .done
  }

  @discardableResult
  private func change<Value: Sendable>(
    _ request: UserRequest, body: @Sendable (WebhookTable) throws(AppStoreError) -> Value
  ) async throws(Problem) -> Value {
    let user = request.identity.userID
    return try await run { (connection) throws(AppStoreError) in
      try body(WebhookTable(connection, userID: user))
    }
  }

  private func url(_ request: UserRequest) throws(Problem) -> String {
    struct Body: Decodable { var url: String }
    let url = try decode(Body.self, from: request).url
    let target: WebhookRule.Target?
    do throws(WebhookRule.Refusal) {
      target = try webhookRule.target(of: url)
    } catch {
      throw Problem(.unprocessableContent, code: "url_refused", title: error.sentence)
    }
    guard target != nil else {
      throw .unstorable("url", expected: WebhookRule.pattern.expectation)
    }
    return url
  }
}

extension Webhook {
  fileprivate func writeMembers(to object: inout JSONWriter) {
    object.member("id") { $0.string(String(id)) }
    object.member("url") { $0.string(url) }
    object.member("state") { $0.string(disabledAt == nil ? "active" : "disabled") }
    object.member("createdAt") { $0.string(createdAt.description) }
    object.member("lastDeliveredAt") { $0.optional(deliveredAt) { $0.string($1.description) } }
    object.member("failures") { $0.integer(Int64(failures)) }
    object.member("lastError") { $0.optional(lastError) { $0.string($1) } }
    object.member("retryAt") { $0.optional(retryAt) { $0.string($1.description) } }
    object.member("disabledAt") { $0.optional(disabledAt) { $0.string($1.description) } }
  }
}
