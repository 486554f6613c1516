import Testing
import VaultTesting

@Suite("The kept fuzz inputs of helpers") struct HelperCorpusTests {
  @Test("Every name has one spelling, and what git says is understood or refused at a line that it has") func all()
    throws
  {
    let inputs = try Repository.corpus(of: "HelperFuzz")
    #expect(inputs.count >= 9)
    let understood = inputs.count { exerciseHelper($0.bytes) }
    #expect(understood >= 4 && understood < inputs.count)
  }
}
