// Sets options on an easy handle and remembers the first that failed, so that no promise (a
// verified peer, a protocol list, a deadline) can be lost in an unread return value.
import CCurl

struct EasyOptions {
  let easy: OpaquePointer
  private(set) var failure: CURLcode?

  init(easy: OpaquePointer) { self.easy = easy }

  private mutating func record(_ code: CURLcode) {
    if code != CURLE_OK, failure == nil { failure = code }
  }

  mutating func set(_ option: CURLoption, to value: Int) {
    record(ccurl_set_long(easy, option, value))
  }

  mutating func set(_ option: CURLoption, bytes: Int) {
    record(ccurl_set_offset(easy, option, curl_off_t(bytes)))
  }

  mutating func set(_ option: CURLoption, to value: String) {
    record(ccurl_set_string(easy, option, value))
  }

  mutating func set(_ option: CURLoption, to value: UnsafeMutablePointer<curl_slist>?) {
    record(ccurl_set_list(easy, option, value))
  }

  mutating func setCallbacks(
    write: @escaping curl_write_callback, header: @escaping curl_write_callback,
    context: UnsafeMutableRawPointer
  ) {
    record(ccurl_set_callback(easy, CURLOPT_WRITEFUNCTION, write))
    record(ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context))
    record(ccurl_set_callback(easy, CURLOPT_HEADERFUNCTION, header))
    record(ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context))
  }

  /// A POST; libcurl copies the body.
  mutating func set(body: [UInt8]) {
    set(CURLOPT_POST, to: 1)
    set(CURLOPT_POSTFIELDSIZE_LARGE, bytes: body.count)
    body.withUnsafeBytes { bytes in
      let start = UnsafeMutableRawBufferPointer(mutating: bytes).baseAddress
      record(ccurl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, start))
    }
  }

  mutating func setOpen(
    _ open: @escaping curl_opensocket_callback, context: UnsafeMutableRawPointer
  ) {
    record(ccurl_set_open(easy, open))
    record(ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context))
  }

  /// What is the same for every request.
  mutating func apply(_ configuration: HTTPClientConfiguration) {
    set(CURLOPT_PROTOCOLS_STR, to: "http,https")
    set(CURLOPT_FOLLOWLOCATION, to: 0)
    set(CURLOPT_PATH_AS_IS, to: 1)
    set(CURLOPT_HTTP_VERSION, to: CURL_HTTP_VERSION_2TLS)
    set(CURLOPT_SSL_VERIFYPEER, to: 1)
    set(CURLOPT_SSL_VERIFYHOST, to: 2)
    set(CURLOPT_SSLVERSION, to: CURL_SSLVERSION_TLSv1_2)
    if let path = configuration.authoritiesPath { set(CURLOPT_CAINFO, to: path) }
    if let path = configuration.socketPath { set(CURLOPT_UNIX_SOCKET_PATH, to: path) }
    // The empty list is libcurl's word for every encoding it was built with.
    set(CURLOPT_ACCEPT_ENCODING, to: "")
    // No proxy. Both are set, or libcurl takes them from the environment.
    set(CURLOPT_PROXY, to: "")
    set(CURLOPT_NOPROXY, to: "")
    set(CURLOPT_LOW_SPEED_LIMIT, to: configuration.lowSpeedBytesPerSecond)
    set(CURLOPT_LOW_SPEED_TIME, to: configuration.lowSpeedSeconds)
    set(CURLOPT_TCP_KEEPALIVE, to: 1)
    set(CURLOPT_NOSIGNAL, to: 1)
    // Without it a cancelled or timed-out lookup holds the thread until getaddrinfo returns, and
    // with it every other transfer.
    set(CURLOPT_QUICK_EXIT, to: 1)
  }
}
