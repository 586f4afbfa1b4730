/// Whom limits count: a token, or an address without one.
package enum AccessKey: Sendable, Hashable {
  case token(Int64)
  case address([UInt8])

  /// Whose request a task is for; nil: nobody's.
  @TaskLocal package static var current: AccessKey?
}
