// libcurl's result codes, sorted into the classes that lead to different decisions.
import CCurl

extension TransportError.Code {
  /// nil for success.
  init?(_ code: CURLcode) {
    switch code {
    case CURLE_OK: return nil
    case CURLE_OPERATION_TIMEDOUT: self = .timeout
    case CURLE_COULDNT_CONNECT, CURLE_PROXY: self = .connect
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .resolve
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: self = .tls
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CRL_BADFILE:
      self = .certificate
    case CURLE_FILESIZE_EXCEEDED: self = .bodyTooLarge
    case CURLE_PARTIAL_FILE: self = .truncated
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      self = .reset
    case CURLE_BAD_CONTENT_ENCODING: self = .encoding
    default: self = .other
    }
  }
}
