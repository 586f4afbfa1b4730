/// System calls with their errno turned into `JournalError`, and retried when interrupted.

import Glibc

/// The call's result, tried again for as long as a signal interrupts it.
func uninterrupted<Result: FixedWidthInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}

/// `doing` completes the sentence "Cannot …".
func checked<Result: FixedWidthInteger>(
  _ doing: @autoclosure () -> String, call: () -> Result
) throws(JournalError) -> Result {
  let result = uninterrupted(call)
  guard result < 0 else { return result }
  let number = errno
  throw .systemCall(doing(), number: number)
}

extension JournalError {
  static func systemCall(_ doing: String, number: Int32) -> JournalError {
    let code: Code = number == ENOSPC || number == EDQUOT ? .full : .system
    let reason = String(cString: strerror(number))
    return JournalError(code, sentence: "Cannot \(doing): \(reason).")
  }
}

/// A file descriptor that closes itself.
struct Descriptor: ~Copyable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { _ = close(number) }

  /// Gives the number away; whoever takes it closes it.
  consuming func release() -> Int32 {
    let given = number
    discard self
    return given
  }
}
