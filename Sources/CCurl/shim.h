#pragma once
// Strict handle types: CURL* and CURLM* reach Swift as OpaquePointer.
#define CURL_NO_OLDIES 1
// The checks fire on the wrappers below, whose arguments are already typed.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <time.h>

// libcurl's setters and getters are variadic, which Swift cannot call; each wrapper fixes one
// argument type and inlines away.

static inline CURLcode ccurl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

/// libcurl copies the text.
static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

/// libcurl does not copy the list: it must outlive the transfer.
static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_callback(CURL *easy, CURLoption option,
                                          curl_write_callback value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_open(CURL *easy, curl_opensocket_callback value) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

/// The numeric text of an address; not 0 if it has none.
static inline int ccurl_address_text(const struct curl_sockaddr *address, char *text,
                                     unsigned int size) {
  return getnameinfo(&address->addr, address->addrlen, text, size, NULL, 0, NI_NUMERICHOST);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

/// When the last certificate of the chain ends by which the peer was verified, in seconds since 1970:
/// the authority's, out of the bundle. 0 without TLS, and where a session was resumed. Only during a
/// transfer, and with a libcurl of OpenSSL.
static inline long long ccurl_authority_end(CURL *easy) {
  struct curl_tlssessioninfo *session = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session ||
      session->backend != CURLSSLBACKEND_OPENSSL || !session->internals)
    return 0;
  STACK_OF(X509) *chain = SSL_get0_verified_chain((SSL *)session->internals);
  int count = chain ? sk_X509_num(chain) : 0;
  struct tm end;
  if (count < 1 || !ASN1_TIME_to_tm(X509_get0_notAfter(sk_X509_value(chain, count - 1)), &end))
    return 0;
  return timegm(&end);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/// The result sits in an anonymous union.
static inline CURLcode ccurl_message_result(const CURLMsg *message) {
  return message->data.result;
}
