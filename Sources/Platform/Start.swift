import CLinux

/// How long a process may take from its start to its first task.
///
/// Where the system gives Swift's runtime no thread, it tries again for ever and runs no task, so
/// no code of ours could notice. The deadline ends the process with 75 (EX_TEMPFAIL), to be started
/// again, and a sentence on standard error.
package enum StartDeadline {
  /// Far more than a loaded machine needs: ordinarily some milliseconds.
  package static let secondsDefault: UInt32 = 30

  package static func set(seconds: UInt32 = secondsDefault) { clinux_set_start_deadline(seconds) }

  /// The first task runs.
  package static func met() { clinux_meet_start_deadline() }
}

/// Whether the system gives a process the threads it will need.
package enum ThreadReserve {
  /// Starts as many threads as it may, at once, and ends them.
  /// - Returns: how many there were: `count`, or fewer.
  package static func available(of count: Int) -> Int {
    let gate = Monitor(false)
    var threads: [JoinableThread] = []
    while threads.count < count,
      let thread = try? JoinableThread(running: { gate.wait(while: { !$0 }, then: { _ in }) })
    {
      threads.append(thread)
    }
    gate.change { $0 = true }
    for thread in threads { thread.join() }
    return threads.count
  }
}
