/// Tests that wait in C (for a child process, a server, a lock) wait on a thread of their own.
///
/// The pool that runs tests has as many threads as the machine has cores: two such tests at once
/// would stop every other test of the process for as long as they wait, and deadlines pass that
/// nobody broke.

import Dispatch
import Testing

package struct OwnThreadTrait: TestTrait, SuiteTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    try await onOwnThread(function)
  }
}

/// Runs `body`, with its child tasks, on a thread of its own.
package func onOwnThread<Result>(
  _ body: @Sendable () async throws -> Result
) async rethrows -> Result {
  try await withTaskExecutorPreference(OwnThread()) { try await body() }
}

extension Trait where Self == OwnThreadTrait {
  /// Each of its test cases, with its child tasks, runs on a thread of its own.
  package static var ownThread: Self { Self() }
}

/// Dispatch gives a serial queue a thread whatever the others do.
private final class OwnThread: TaskExecutor {
  private let queue = DispatchQueue(label: "test")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
