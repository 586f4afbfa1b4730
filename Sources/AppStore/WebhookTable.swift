import Market
import Postgres

/// A row of `webhook`, without its secret.
package struct Webhook: Sendable, Hashable {
  package var id: Int64
  package var url: String
  package var createdAt: Timestamp
  package var deliveredAt: Timestamp?
  /// In a row, since the last success.
  package var failures: Int32
  /// Why the last attempt failed.
  package var lastError: String?
  package var retryAt: Timestamp?
  /// Since then nothing is sent.
  package var disabledAt: Timestamp?
}

/// Webhooks of one user in the database.
package struct WebhookTable: AppTable, NumberedTable {
  let connection: AppConnection
  private let userID: Int64
  static let context = "webhooks"

  /// Of a user.
  package static let webhooksMax = 5
  package static let urlBytesMax = 2_048

  package init(_ connection: AppConnection, userID: Int64) {
    self.connection = connection
    self.userID = userID
  }

  private static let columns = """
    id, url, created_at, delivered_at, failures, last_error, retry_at, disabled_at
    """

  private static let readAll = Statement(
    name: "read_webhooks",
    sql: """
      select \(columns)
      from webhook
      where user_id = $1::bigint
      order by id
      """)

  /// In the order they were made.
  package func all() throws(AppStoreError) -> [Webhook] {
    return try webhooks(Self.readAll, [.int64(userID)])
  }

  /// - Throws: `unknown`, `store`.
  package func one(_ id: Int64) throws(AppStoreError) -> Webhook {
    guard let found = try all().first(where: { $0.id == id }) else { throw .unknown(.webhook, id) }
    return found
  }

  private static let insert = Statement(
    name: "insert_webhook",
    sql: """
      insert into webhook (user_id, url, secret, position)
      select
        $1::bigint, $2::text, $3::bytea, coalesce((select max(id) from notification), 0)
      where (select count(*) from webhook where user_id = $1::bigint) < \(webhooksMax)
      returning \(columns)
      """)

  /// It gets what is stored from now on.
  /// - Throws: `limitReached`, `invalid`, `store`.
  package func create(
    url: String, secret: [UInt8]
  ) throws(AppStoreError) -> Webhook {
    try validate(url)
    return try connection.inTransaction(ofUser: userID, Self.context) { () throws(AppStoreError) in
      guard
        let webhook = try webhooks(Self.insert, [.int64(userID), .text(url), .bytes(secret)]).first
      else {
        throw .limitReached("more than \(Self.webhooksMax) webhooks: delete some")
      }
      return webhook
    }
  }

  private static let update = Statement(
    name: "update_webhook",
    sql: """
      update webhook
      set
        url = $3::text,
        failures = 0,
        failing_since = null,
        retry_at = null,
        last_error = null,
        disabled_at = null
      where user_id = $1::bigint
        and id = $2::bigint
      returning \(columns)
      """)

  /// Enables it again, too: what it has not got is delivered at once.
  /// - Throws: `unknown`, `invalid`, `store`.
  package func replace(_ id: Int64, url: String) throws(AppStoreError) -> Webhook {
    try validate(url)
    guard let webhook = try webhooks(Self.update, place(of: id) + [.text(url)]).first else {
      throw .unknown(.webhook, id)
    }
    return webhook
  }

  private static let delete = Statement(
    name: "delete_webhook",
    sql: """
      delete from webhook
      where user_id = $1::bigint
        and id = $2::bigint
      """)

  /// One that is not there is no fault.
  package func delete(_ id: Int64) throws(AppStoreError) {
    try write(Self.delete, with: place(of: id))
  }

  private func validate(_ url: String) throws(AppStoreError) {
    guard (1...Self.urlBytesMax).contains(url.utf8.count) else {
      throw .invalid(field: "url", expected: "\(Self.urlBytesMax) bytes at most")
    }
  }

  private func place(of id: Int64) -> [WireParameter] { [.int64(userID), .int64(id)] }

  private func webhooks(
    _ statement: Statement, _ parameters: [WireParameter]
  ) throws(AppStoreError) -> [Webhook] {
    try read(statement, with: parameters) { (row) throws(StoreError) in
      Webhook(
        id: try row.int64(), url: try row.text(), createdAt: try row.timestamp(),
        deliveredAt: try row.optionalTimestamp(), failures: try row.int32(),
        lastError: try row.optionalText(), retryAt: try row.optionalTimestamp(),
        disabledAt: try row.optionalTimestamp())
    }
  }
}
