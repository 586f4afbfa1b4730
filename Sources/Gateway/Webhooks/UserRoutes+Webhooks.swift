import AppStore
import HTTPTypes
import Market

/// The user's webhooks.
extension UserRoutes {
  var ofWebhooks: [Route] {
    numbered(
      "webhooks", each: "webhook", in: WebhookTable.self, as: Webhook.shape,
      summary: "The user's webhooks, and how their deliveries went.")
      + [
        route(
          .post, path: "/v1/webhooks", status: .created, answer: MadeWebhook.shape.schema,
          body: Self.address,
          summary: "Makes a webhook: from now on each notification is sent to its URL, signed as "
            + "Standard Webhooks has it. The secret is shown this once.",
          problems: [.conflict], respond: makeWebhook),
        route(
          .put, path: "/v1/webhooks/{id}", answer: Webhook.shape.schema, body: Self.address,
          summary:
            "Gives a webhook another URL, or the same; one that is disabled is enabled again, "
            + "and gets what it missed.",
          problems: [.notFound, .conflict], respond: replaceWebhook),
      ]
  }

  private static let address = Schema.object([.init("url", .matching(WebhookRule.pattern))])

  // MARK: Answers

  private func makeWebhook(_ request: UserRequest) async throws(Problem) -> Answer {
    let url = try url(request)
    var generator = SystemRandomNumberGenerator()
    let secret = WebhookSecret(using: &generator)
    let webhook = try await run(request, over: WebhookTable.self) { (table) throws(AppStoreError) in
      try table.create(url: url, secret: secret.bytes)
    }
    return .own(
      MadeWebhook(webhook: webhook, secret: secret.reveal()), as: MadeWebhook.shape,
      in: .shanghai, status: .created, location: "/v1/webhooks/\(webhook.id)")
  }

  private func replaceWebhook(_ request: UserRequest) async throws(Problem) -> Answer {
    let (id, url) = (request.id, try url(request))
    let webhook = try await run(request, over: WebhookTable.self) { (table) throws(AppStoreError) in
      try table.replace(id, url: url)
    }
    return .own(webhook, as: Webhook.shape, in: .shanghai)
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
