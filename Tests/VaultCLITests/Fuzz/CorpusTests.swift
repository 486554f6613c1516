import Testing
import VaultTesting

@Suite("The kept inputs of the client's fuzzers") struct CorpusTests {
  @Test("each text is a template whose pieces follow each other, or refused at a place that it has") func templates()
    throws
  {
    let inputs = try Repository.corpus(of: "TemplateFuzz").map(\.bytes)
    let read = inputs.filter { exerciseTemplate(unsafe $0.span.bytes) }.count
    #expect(read >= 5 && inputs.count - read >= 5)
  }

  @Test("each file gives variables, or is refused at a line that it has") func variables() throws {
    let inputs = try Repository.corpus(of: "EnvironmentFileFuzz").map(\.bytes)
    let read = inputs.filter { exerciseEnvironmentFile(unsafe $0.span.bytes) }.count
    #expect(read >= 5 && inputs.count - read >= 5)
  }
}
