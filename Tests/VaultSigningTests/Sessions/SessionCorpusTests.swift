import Testing
import VaultBytes
import VaultTesting

@Suite("The kept inputs of the fuzzer of sessions") struct SessionCorpusTests {
  @Test("each opens what its name says") func replay() throws {
    let inputs = try Repository.corpus(of: "SessionFuzz")
    #expect(inputs.count >= 12)
    for (name, bytes) in inputs {
      let read = bytes.withSpan { exerciseSession($0) }
      // An input that a fuzzing run added has a hash as its name, and may be anything.
      guard name.count < 40 else { continue }
      let expected = name.prefix { $0 != "." }.split(separator: "-").map(String.init)
      #expect(read == (expected == ["none"] ? [] : expected), "\(name)")
    }
  }
}
