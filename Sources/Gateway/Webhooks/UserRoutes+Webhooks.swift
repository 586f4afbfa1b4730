import AppStore
import HTTPTypes
import Market

/// The user's webhooks.
extension UserRoutes {
  var ofWebhooks: [Route] {
    [
      route(
        .get, path: "/v1/webhooks",
        answer: .object([.init("webhooks", .array(of: Webhook.shape.schema))]),
        summary: "The user's webhooks, and how their deliveries went.", respond: webhooks),
      route(
        .post, path: "/v1/webhooks", status: .created, answer: MadeWebhook.shape.schema,
        body: Self.address,
        summary: "Makes a webhook: from now on each notification is sent to its URL, signed as "
          + "Standard Webhooks has it. The secret is shown this once.",
        problems: [.conflict], respond: makeWebhook),
      route(
        .get, path: "/v1/webhooks/{id}", answer: Webhook.shape.schema, summary: "One webhook.",
        problems: [.notFound], respond: webhook),
      route(
        .put, path: "/v1/webhooks/{id}", answer: Webhook.shape.schema, body: Self.address,
        summary: "Gives a webhook another URL, or the same; one that is disabled is enabled again, "
          + "and gets what it missed.",
        problems: [.notFound, .conflict], respond: replaceWebhook),
      route(
        .delete, path: "/v1/webhooks/{id}", status: .noContent, answer: nil,
        summary: "Deletes a webhook. Deleting it again is no error.", respond: deleteWebhook),
    ]
  }

  private static let address = Schema.object([.init("url", .matching(WebhookRule.pattern))])

  // MARK: Answers

  private func webhooks(_ request: UserRequest) async throws(Problem) -> Answer {
    let webhooks = try await change(request) { (table) throws(AppStoreError) in try table.all() }
    return .own { $0.list("webhooks", of: webhooks, as: Webhook.shape, in: .shanghai) }
  }

  private func webhook(_ request: UserRequest) async throws(Problem) -> Answer {
    let id = request.id
    let webhook = try await change(request) { (table) throws(AppStoreError) in
      guard let found = try table.all().first(where: { $0.id == id }) else {
        throw .unknownWebhook(id)
      }
      return found
    }
    return .own(webhook, as: Webhook.shape, in: .shanghai)
  }

  private func makeWebhook(_ request: UserRequest) async throws(Problem) -> Answer {
    let url = try url(request)
    var generator = SystemRandomNumberGenerator()
    let secret = WebhookSecret(using: &generator)
    let webhook = try await change(request) { (table) throws(AppStoreError) in
      try table.create(url: url, secret: secret.bytes)
    }
    return .own(
      MadeWebhook(webhook: webhook, secret: secret.reveal()), as: MadeWebhook.shape,
      in: .shanghai, status: .created, location: "/v1/webhooks/\(webhook.id)")
  }

  private func replaceWebhook(_ request: UserRequest) async throws(Problem) -> Answer {
    let (id, url) = (request.id, try url(request))
    let webhook = try await change(request) { (table) throws(AppStoreError) in
      try table.replace(id, url: url)
    }
    return .own(webhook, as: Webhook.shape, in: .shanghai)
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
    let url = try request.body(Body.self).url
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
  fileprivate static let shape = Shape<Webhook>(
    "Webhook",
    fields: [
      .string("id") { String($0.id) }, .string("url") { $0.url },
      .choice("state", of: ["active", "disabled"]) { $0.disabledAt == nil ? "active" : "disabled" },
      .moment("createdAt") { $0.createdAt }, .optionalMoment("lastDeliveredAt") { $0.deliveredAt },
      .integer("failures") { Int64($0.failures) }, .optionalString("lastError") { $0.lastError },
      .optionalMoment("retryAt") { $0.retryAt }, .optionalMoment("disabledAt") { $0.disabledAt },
    ])
}

/// A webhook with its secret, as its making alone shows it.
private struct MadeWebhook: Sendable {
  let webhook: Webhook
  let secret: String

  static let shape = Shape<MadeWebhook>(
    fields: Webhook.shape.partFields(of: MadeWebhook.self) { $0.webhook } + added)

  private static let added: [Shape<MadeWebhook>.Field] = [.string("secret") { $0.secret }]
}
