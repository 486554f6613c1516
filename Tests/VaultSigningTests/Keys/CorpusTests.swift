import Testing
import VaultTesting

@Suite("The kept inputs of the fuzzer of keys") struct CorpusTests {
  @Test("Each is an error, or a key that is read as the same one when it was written") func replay() throws {
    let inputs = try Repository.corpus(of: "KeyFuzz")
    #expect(inputs.count >= 15)
    for (name, bytes) in inputs {
      let isKey = exerciseKey(unsafe bytes.span.bytes)
      // An input that a fuzzing run added has a hash as its name, and may be valid or not.
      if name.count < 40 { #expect(isKey == !name.hasPrefix("bad"), "\(name)") }
    }
  }
}
