/// Whom limits count: a user, through whatever tokens, or an address without one.
package enum AccessKey: Sendable, Hashable {
  case user(Int64)
  case address([UInt8])

  /// Of what many wait for alike: no user has that number.
  package static let everybody = AccessKey.user(0)

  /// Whose request a task is for; nil: nobody's.
  @TaskLocal package static var current: AccessKey?
}
