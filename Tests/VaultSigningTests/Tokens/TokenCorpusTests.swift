import Testing
import VaultTesting

@Suite("The kept inputs of the fuzzer of tokens") struct TokenCorpusTests {
  @Test("each is refused, or read as what it is") func replay() throws {
    let inputs = try Repository.corpus(of: "TokenFuzz")
    #expect(inputs.count >= 12)
    for (name, bytes) in inputs {
      let read = exerciseToken(unsafe bytes.span.bytes)
      // An input that a fuzzing run added has a hash as its name, and may be any of the three.
      if name.count < 40 { #expect(read == ["token", "object", "list"].first { name.hasPrefix($0) }, "\(name)") }
    }
  }
}
