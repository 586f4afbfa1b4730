import Market
import Postgres

/// The next notification that a webhook has not got.
package struct PendingDelivery: Sendable {
  package var webhookID: Int64
  package var url: String
  /// What it is signed with; never to be logged.
  package var secret: [UInt8]
  /// In a row, so far.
  package var failures: Int32
  /// Until it is due; 0: it is.
  package var waitMilliseconds: Int64
  package var notification: InboxItem
  /// In which the notification was numbered; 0: the first.
  package var epoch: Int64
}

/// What became of an attempt.
package struct DeliveryOutcome: Sendable {
  package var delivery: PendingDelivery
  /// nil: it was delivered.
  package var failure: Failure?

  package struct Failure: Sendable {
    /// A word for metrics.
    package var reason: String
    /// For people; nothing of the receiver's own words.
    package var sentence: String
    package var pauseMilliseconds: Int64
    /// Whether the receiver wants no more.
    package var isFinal: Bool

    package init(
      _ reason: String, sentence: String, pauseMilliseconds: Int64, isFinal: Bool
    ) {
      self.reason = reason
      self.sentence = sentence
      self.pauseMilliseconds = pauseMilliseconds
      self.isFinal = isFinal
    }
  }

  package init(_ delivery: PendingDelivery, failure: Failure? = nil) {
    self.delivery = delivery
    self.failure = failure
  }
}

/// What all webhooks wait for, for the gateway that delivers.
package struct WebhookQueue: AppTable {
  let connection: AppConnection
  static let context = "webhooks"

  package init(_ connection: AppConnection) { self.connection = connection }

  private static let readPending = Statement(
    name: "read_pending_deliveries",
    sql: """
      select
        extract(epoch from clock_timestamp() - min(n.at) over ())::bigint,
        count(*) over (),
        w.id,
        w.url,
        w.secret,
        w.failures,
        greatest(
          ceil(extract(epoch from coalesce(w.retry_at, n.at) - clock_timestamp()) * 1000),
          0)::bigint,
        (select max(e.epoch) from epoch e where e.notification_id < n.id),
        \(NotificationTable.columns)
      from webhook w
      cross join lateral (
        select *
        from notification
        where user_id = w.user_id
          and id > w.position
          and deleted_at is null
        order by id
        limit 1
      ) n
      where w.disabled_at is null
      order by coalesce(w.retry_at, greatest(w.delivered_at, n.at)), w.id
      limit $1::integer
      """)

  /// Of each webhook the first. Those come first that wait longest since they had one: who has many
  /// does not go before all others.
  /// - Returns: also how long the oldest of all waits, and of how many webhooks one does.
  package func pending(
    limit: Int32
  ) throws(AppStoreError)
    -> (deliveries: [PendingDelivery], oldestSeconds: Int64, webhooks: Int64)
  {
    var (oldestSeconds, webhooks): (Int64, Int64) = (0, 0)
    let deliveries = try read(Self.readPending, with: [.int32(limit)]) { (row) throws(StoreError) in
      (oldestSeconds, webhooks) = (try row.int64(), try row.int64())
      let (id, url, secret) = (try row.int64(), try row.text(), try row.bytes())
      let (failures, wait) = (try row.int32(), try row.int64())
      let epoch = try row.int64()
      return PendingDelivery(
        webhookID: id, url: url, secret: secret, failures: failures, waitMilliseconds: wait,
        notification: try row.notification(), epoch: epoch)
    }
    return (deliveries, oldestSeconds, webhooks)
  }

  private static let recordDelivered = Statement(
    name: "record_delivered",
    sql: """
      update webhook
      set
        position = $2::bigint,
        delivered_at = clock_timestamp(),
        failures = 0,
        failing_since = null,
        retry_at = null,
        last_error = null
      where id = $1::bigint
        and position < $2::bigint
      """)

  private static let recordFailed = Statement(
    name: "record_failed",
    sql: """
      update webhook
      set
        failures = failures + 1,
        failing_since = coalesce(failing_since, clock_timestamp()),
        retry_at = clock_timestamp() + $4::bigint * interval '1 millisecond',
        last_error = $5::text,
        disabled_at = case
          -- Hourly in the end: more than these many, or a clock that was set.
          when $6::boolean
            or (failures >= 100 and failing_since < clock_timestamp() - interval '5 days')
            then clock_timestamp()
        end
      where id = $1::bigint
        and position < $2::bigint
        and url = $3::text
        and disabled_at is null
      """)

  /// What another gateway delivered meanwhile stays delivered.
  /// - Parameter term: of the lease.
  /// - Throws: `termIsOver` if another gateway delivers now; `store`.
  package func record(
    _ outcome: DeliveryOutcome, inTerm term: Int64
  ) throws(AppStoreError) {
    try connection.inTransaction(Self.context) { () throws(AppStoreError) in
      try GatewayLease.fence(.webhooks, term: term, over: connection)
      try record(outcome)
    }
  }

  private func record(_ outcome: DeliveryOutcome) throws(AppStoreError) {
    let delivery = outcome.delivery
    let place: [WireParameter] = [.int64(delivery.webhookID), .int64(delivery.notification.id)]
    guard let failure = outcome.failure else {
      try write(Self.recordDelivered, with: place)
      return
    }
    try write(
      Self.recordFailed,
      with: place + [
        .text(delivery.url), .int64(failure.pauseMilliseconds), .text(failure.sentence),
        .bool(failure.isFinal),
      ])
  }
}
