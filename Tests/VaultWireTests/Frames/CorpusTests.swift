import Testing
import VaultTesting
import VaultWire

@Suite struct CorpusTests {
  @Test("The kept inputs of the fuzzer hold, each with what it is known to be")
  func holdsCorpus() throws {
    let refused: Set = [
      "two-frames", "too-deep", "duplicate", "lone-surrogate", "overlong", "limit", "over-limit", "empty",
    ]
    let inputs = try Repository.corpus(of: "FrameFuzz")
    #expect(inputs.count >= 17)
    for (name, bytes) in inputs {
      exerciseReader(unsafe bytes.span.bytes)
      let isFrame = exerciseFrame(unsafe bytes.span.bytes)
      // An input that a fuzzing run added has a hash as its name, and may be valid or not.
      if name.count < 40 { #expect(isFrame != refused.contains(name), "\(name)") }
    }
  }
}
