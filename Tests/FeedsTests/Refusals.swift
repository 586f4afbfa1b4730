import Feeds

/// How `decode` refuses an answer; nil if it does not.
func refusal<Answer>(_ decode: () throws -> Answer) -> FeedRefusal? {
  do {
    _ = try decode()
    return nil
  } catch {
    return error as? FeedRefusal
  }
}
