// Asynchronous GETs and POSTs over libcurl: the module's front.
//
// `send` suspends a task; the work is done by one thread (`TransferLoop`), which the client starts
// and joins. What holds for every request: TLS peers are verified, redirects are answers and not
// followed, only http and https are spoken, the environment's proxies are ignored, a deadline and a
// body cap always apply, cancelling the task ends the transfer. Nothing here logs.
import CCurl
import Glibc
import Platform

/// A pool of connections and the thread that drives them.
package final class HTTPClient: Sendable {
  private let mailbox: Mailbox
  private let thread: JoinableThread
  private let authorities = Locked<[String: Int64]>([:])
  /// More than a daemon has.
  private static let authoritiesMax = 64

  /// When the authorities' certificates end that hosts were verified with, in seconds since 1970.
  package var authorityEnds: [String: Int64] { authorities.withLock { $0 } }

  /// Starts the client's thread.
  /// - Throws: `noResources` if libcurl or the system refuses: no memory, no thread.
  package init(_ configuration: HTTPClientConfiguration = .init()) throws(TransportError) {
    guard curlIsReady, let multi = curl_multi_init() else {
      throw TransportError(.noResources, route: "")
    }
    let loop = TransferLoop(multi: multi, configuration: configuration)
    do throws(ThreadError) {
      thread = try JoinableThread(name: "transport") { loop.run() }
    } catch {
      curl_multi_cleanup(multi)
      throw TransportError(.noResources, route: "")
    }
    mailbox = loop.mailbox
  }

  deinit { shutdown() }

  /// One request; any status is an answer.
  /// - Throws: why there is no answer. A cancelled task gets `cancelled`, within one turn of the
  ///   loop, and its connection is closed if the answer had begun.
  package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let ticket = try mailbox.reserve(route: request.route).get()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        mailbox.submit(
          Submission(
            ticket: ticket, request: request, submittedAt: .now, continuation: continuation))
      }
    } onCancel: {
      mailbox.cancel(ticket)
    }
    let response = try result.get()
    if let end = response.authorityEnd {
      authorities.withLock { if $0.count < Self.authoritiesMax { $0[request.base.host] = end } }
    }
    return response
  }

  /// Ends every request with `shutDown`, closes the connections and waits for the thread: a few
  /// milliseconds. May be called more than once, from any thread.
  package func shutdown() {
    mailbox.stop()
    thread.join()
  }
}

/// libcurl's global state, set up once a process; thread-safe since 7.84.
private let curlIsReady = ccurl_global_init() == CURLE_OK
