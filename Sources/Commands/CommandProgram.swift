import ArgumentParser
import CLinux
import Dispatch
import Glibc
import Operations
import Platform

/// The start and the end of a process of ours. Not asynchronous itself: a command that needs no
/// thread runs where none is to be had.
package struct CommandProgram: Sendable {
  private let threadsMin: Int
  private let failure: @Sendable (any Error) -> CommandFailure?

  /// - Parameters:
  ///   - threadsMin: what an asynchronous command needs; with fewer it is not begun.
  ///   - failure: the sentence and status of what a command throws; nil of what is not known.
  package init(threadsMin: Int, failure: @escaping @Sendable (any Error) -> CommandFailure?) {
    self.threadsMin = threadsMin
    self.failure = failure
  }

  /// Runs what the command line says. To be called on the main thread, before there is another.
  package func run<Root: AsyncParsableCommand>(_ root: Root.Type) {
    clinux_open_standard_descriptors()
    // A reader that left (`| head`) and a peer that hung up are return values, not deaths.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try root.parseAsRoot()
      if type(of: command) is any DrainsOnSignal.Type {
        ServiceSignals.keep()
      } else {
        ServiceSignals.release()
      }
      if let asynchronous = command as? any AsyncParsableCommand {
        try requireThreads()
        run(asynchronous, of: root)
      }
      try command.run()
    } catch {
      end(error, of: root)
    }
  }

  private func requireThreads() throws(CommandFailure) {
    let available = ThreadReserve.available(of: threadsMin)
    if available < threadsMin { throw .tooFewThreads("\(available) of \(threadsMin) threads") }
  }

  /// On Swift's own threads, while this one only takes signals.
  private func run<Root: AsyncParsableCommand>(
    _ command: sending any AsyncParsableCommand, of root: Root.Type
  ) -> Never {
    StartDeadline.set()
    // Unstructured: this is where structure begins.
    Task {
      StartDeadline.met()
      do {
        var command = command
        try await command.run()
        Glibc.exit(ExitCode.ok.rawValue)
      } catch {
        end(error, of: root)
      }
    }
    dispatchMain()
  }

  private func end<Root: AsyncParsableCommand>(_ error: any Error, of root: Root.Type) -> Never {
    do {
      if let failure = failure(error) { throw failure }
      // A help that was asked for is a result, and must have been written.
      guard root.exitCode(for: error).isSuccess else { root.exit(withError: error) }
      let text = root.fullMessage(for: error)
      if !text.isEmpty { try StandardOutput.write(text + "\n") }
      Glibc.exit(ExitCode.ok.rawValue)
    } catch {
      let failure = error as? CommandFailure
      failure?.report()
      Glibc.exit((failure?.status ?? .software).rawValue)
    }
  }
}
