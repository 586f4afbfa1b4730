import AppStore
import Testing

@Suite struct AppSchemaTests {
  @Test("the schema's text is in the binary")
  func embedded() {
    #expect(AppSchema.text.hasPrefix("--"))
  }
}
