import Feeds

/// How `decode` refuses an answer; nil if it does not.
func refusal<Response>(_ decode: () throws -> Response) -> FeedRefusal? {
  do {
    _ = try decode()
    return nil
  } catch {
    return error as? FeedRefusal
  }
}
