import Market

/// The server's queue of notifications, which every listener must have read before it empties. A
/// stuck one (in an open transaction, or with an unread socket) fills it, and then every commit
/// with a NOTIFY aborts, its data included.
package struct NotificationQueue: Sendable, Hashable {
  /// A session that may be holding it: the one whose transaction has been open longest.
  package struct Holder: Sendable, Hashable {
    package var process: Int32
    package var application: String
    package var role: String
    package var openSeconds: Int64

    package init(process: Int32, application: String, role: String, openSeconds: Int64) {
      self.process = process
      self.application = application
      self.role = role
      self.openSeconds = openSeconds
    }
  }

  /// The filled share, 0…1.
  package var usage: ExactDecimal
  /// Looked for once the queue is filled beyond `alarmUsage`.
  package var holder: Holder?

  /// Of 8 GB: a full queue aborts every transaction that notifies, its data included.
  package static let alarmUsage = ExactDecimal(units: 1, scale: 1)

  package init(usage: ExactDecimal, holder: Holder? = nil) {
    self.usage = usage
    self.holder = holder
  }
}
