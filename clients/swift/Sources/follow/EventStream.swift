import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The events of one response. URLSession's own `bytes(for:)` does not exist on Linux.
final class EventStream: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  struct Event: Sendable {
    var id: String?
    var data: Data
  }

  // Both are touched on the session's queue alone, which runs one operation at a time.
  private var line = Data()
  private var event = Event(data: Data())
  private let continuation: AsyncThrowingStream<Event, any Error>.Continuation

  static func open(_ request: URLRequest) -> AsyncThrowingStream<Event, any Error> {
    AsyncThrowingStream { continuation in
      let reader = EventStream(continuation)
      let session = URLSession(configuration: .ephemeral, delegate: reader, delegateQueue: nil)
      session.dataTask(with: request).resume()
      continuation.onTermination = { _ in session.invalidateAndCancel() }
    }
  }

  private init(_ continuation: AsyncThrowingStream<Event, any Error>.Continuation) {
    self.continuation = continuation
  }

  func urlSession(
    _: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    if [400, 401, 403, 404].contains(status) {
      continuation.finish(throwing: Refused(status: status))
    }
    completionHandler(status == 200 ? .allow : .cancel)
  }

  func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    for byte in data {
      if byte == UInt8(ascii: "\n") { endLine() } else { line.append(byte) }
    }
  }

  func urlSession(
    _: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    continuation.finish(throwing: error)
  }

  /// A field, or, where it is empty, the end of an event.
  private func endLine() {
    let text = String(decoding: line, as: UTF8.self)
    line = Data()
    if text.isEmpty {
      if !event.data.isEmpty { continuation.yield(event) }
      event = Event(data: Data())
    } else if text.hasPrefix("id: ") {
      event.id = String(text.dropFirst(4))
    } else if text.hasPrefix("data: ") {
      event.data += Data(text.utf8.dropFirst(6))
    }
  }
}
