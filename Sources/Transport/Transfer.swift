// One request inside libcurl: the options that make every promise of the client, and the two
// callbacks through which the answer arrives.
//
// Only the transport thread touches a transfer: libcurl calls back on the thread that drives it.
// The callbacks count inflated bytes, so a body that unpacks beyond its cap is cut off within one
// of libcurl's 16 KiB chunks, whatever its length on the wire.
import CCurl
import Glibc

final class Transfer {
  let submission: Submission
  let easy: OpaquePointer

  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var headers = HTTPHeaders()
  private var headerBytes = 0
  private var body: [UInt8] = []
  private var isTooLarge = false
  /// Whether the final status is there, with all headers.
  private var isAnswered = false
  /// As of `HTTPResponse`; 0 where it is not known.
  private var authorityEnd: Int64 = 0
  private var refuses: (@Sendable (String) -> Bool)?
  private var isRefused = false

  /// All header lines together; browsers stop at about 256 KiB, servers send 1.
  static let headerBytesMax = 65_536

  init(_ submission: Submission, easy: OpaquePointer) {
    self.submission = submission
    self.easy = easy
  }

  deinit { curl_slist_free_all(headerList) }

  private var request: HTTPRequest { submission.request }

  func error(_ code: TransportError.Code) -> TransportError {
    TransportError(code, route: request.route)
  }

  // MARK: Before

  /// Sets every option anew on a fresh or reset handle.
  func prepare(
    _ configuration: HTTPClientConfiguration, remainingMilliseconds: Int
  ) throws(TransportError) {
    guard let url = request.url, let lines = request.headerLines,
      request.deadlineMilliseconds > 0, request.connectMilliseconds > 0, request.bodyBytesMax > 0
    else { throw error(.invalidRequest) }
    var options = EasyOptions(easy: easy)
    options.set(CURLOPT_URL, to: url)
    for line in lines {
      guard let longer = curl_slist_append(headerList, line) else {
        throw error(.noResources)
      }
      headerList = longer
    }
    options.set(CURLOPT_HTTPHEADER, to: headerList)
    if let body = request.body { options.set(body: body) }
    options.set(CURLOPT_TIMEOUT_MS, to: max(remainingMilliseconds, 1))
    options.set(CURLOPT_CONNECTTIMEOUT_MS, to: request.connectMilliseconds)
    if request.needsBody { options.set(CURLOPT_MAXFILESIZE_LARGE, bytes: request.bodyBytesMax) }
    options.apply(configuration)
    refuses = configuration.refuses
    if refuses != nil { options.setOpen(transferOpen, context: pointer) }
    options.setCallbacks(write: transferWrite, header: transferHeader, context: pointer)
    if let failure = options.failure {
      throw TransportError(.other, route: request.route, curl: Int(failure.rawValue))
    }
  }

  /// Borrowed by libcurl for the length of the transfer, during which the loop owns the transfer.
  private var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  // MARK: During

  /// A socket for the address that was found, after any lookup: no name can lead elsewhere.
  fileprivate func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    var text = [CChar](repeating: 0, count: Transfer.addressBytesMax)
    let isKnown = ccurl_address_text(address, &text, UInt32(text.count)) == 0
    let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    guard isKnown, refuses?(String(decoding: bytes, as: UTF8.self)) == false else {
      isRefused = true
      return CURL_SOCKET_BAD
    }
    let place = address.pointee
    return socket(place.family, place.socktype | Int32(SOCK_CLOEXEC.rawValue), place.protocol)
  }

  /// INET6_ADDRSTRLEN is 46, without the name of an interface.
  private static let addressBytesMax = 128

  /// How many bytes were accepted; fewer than given ends the transfer.
  fileprivate func received(body chunk: UnsafeRawBufferPointer) -> Int {
    guard body.count + chunk.count <= request.bodyBytesMax else {
      isTooLarge = request.needsBody
      return 0
    }
    body.append(contentsOf: chunk)
    return chunk.count
  }

  fileprivate func received(header line: UnsafeRawBufferPointer) -> Int {
    headerBytes += line.count
    guard headerBytes <= Transfer.headerBytesMax else {
      isTooLarge = true
      return 0
    }
    // An interim answer (100, 103) is followed by the real one: only the last block counts.
    if line.starts(with: "HTTP/".utf8) { headers = HTTPHeaders() }
    headers.keep(line: line)
    if line.elementsEqual("\r\n".utf8) {
      isAnswered = long(CURLINFO_RESPONSE_CODE) >= Self.finalStatusMin
      authorityEnd = ccurl_authority_end(easy)
    }
    return line.count
  }

  /// Below it are interim answers.
  private static let finalStatusMin = 200

  // MARK: After

  func result(_ code: CURLcode) -> Result<HTTPResponse, TransportError> {
    if isTooLarge { return .failure(error(.bodyTooLarge)) }
    if isRefused, code == CURLE_COULDNT_CONNECT { return .failure(error(.refusedAddress)) }
    if !isAnswered || request.needsBody, let failure = TransportError.Code(code) {
      let number = failure == .other ? Int(code.rawValue) : nil
      return .failure(TransportError(failure, route: request.route, curl: number))
    }
    // libcurl takes what came of a head for all of it.
    if !isAnswered { return .failure(error(.reset)) }
    return .success(
      HTTPResponse(
        status: long(CURLINFO_RESPONSE_CODE), headers: headers, body: body,
        authorityEnd: authorityEnd == 0 ? nil : authorityEnd))
  }

  private func long(_ info: CURLINFO) -> Int {
    var value = 0
    return ccurl_get_long(easy, info, &value) == CURLE_OK ? value : 0
  }
}

private let transferWrite: curl_write_callback = { bytes, size, count, context in
  guard let context else { return 0 }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  return transfer.received(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
}

private let transferHeader: curl_write_callback = { bytes, size, count, context in
  guard let context else { return 0 }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  return transfer.received(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
}

private let transferOpen: curl_opensocket_callback = { context, _, address in
  guard let context, let address else { return CURL_SOCKET_BAD }
  return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().open(address)
}
