import ArgumentParser
import CLinux
import Dispatch
import Glibc
import Operations
import Platform

/// The start and the end of the process. Not asynchronous itself: what concerns all threads is done
/// before there is a second one, and a command that needs none runs where none is to be had.
@main
enum Program {
  /// A daemon that leads has nine of its own, a name that is looked up takes one more, and Swift's
  /// runtime wants as many as there are processors.
  private static let threadsMin = 14 + max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)

  static func main() {
    clinux_open_standard_descriptors()
    Allocator.limit()
    // A reader that left (`| head`) and a peer that hung up are return values, not deaths.
    signal(SIGPIPE, SIG_IGN)
    // libcurl would write the keys of its sessions into the file that this names.
    unsetenv("SSLKEYLOGFILE")
    do {
      var command = try Candled.parseAsRoot()
      if type(of: command) is any DrainsOnSignal.Type {
        ServiceSignals.keep()
      } else {
        ServiceSignals.release()
      }
      if let asynchronous = command as? any AsyncParsableCommand {
        try requireThreads()
        run(asynchronous)
      }
      try command.run()
    } catch {
      end(error)
    }
  }

  private static func requireThreads() throws(CommandFailure) {
    let available = ThreadReserve.available(of: threadsMin)
    if available < threadsMin { throw .tooFewThreads("\(available) of \(threadsMin) threads") }
  }

  /// On Swift's own threads, while this one only takes signals.
  private static func run(_ command: sending any AsyncParsableCommand) -> Never {
    StartDeadline.set()
    // Unstructured: this is where structure begins.
    Task {
      StartDeadline.met()
      do {
        var command = command
        try await command.run()
        Glibc.exit(ExitCode.ok.rawValue)
      } catch {
        end(error)
      }
    }
    dispatchMain()
  }

  private static func end(_ error: any Error) -> Never {
    do {
      if let failure = CommandFailure(of: error) { throw failure }
      // A help that was asked for is a result, and must have been written.
      guard Candled.exitCode(for: error).isSuccess else { Candled.exit(withError: error) }
      let text = Candled.fullMessage(for: error)
      if !text.isEmpty { try StandardOutput.write(text + "\n") }
      Glibc.exit(ExitCode.ok.rawValue)
    } catch {
      let failure = error as? CommandFailure
      failure?.report()
      Glibc.exit((failure?.status ?? .software).rawValue)
    }
  }
}
