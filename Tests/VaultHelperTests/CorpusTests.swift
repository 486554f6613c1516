import Foundation
import Testing
import VaultTesting

@Suite("The kept inputs of the fuzzer of sealed keys") struct CorpusTests {
  @Test("Each is refused, or a key sealed in that one way") func replay() throws {
    // Without this, libtss2 would print a line or two about each error.
    unsafe setenv("TSS2_LOG", "all+NONE", 1)
    let inputs = try Repository.corpus(of: "SealedBlobFuzz")
    #expect(inputs.count >= 12)
    for (name, bytes) in inputs {
      let isSealed = exerciseSealedBlob(bytes)
      // An input that a fuzzing run added has a hash as its name, and may be valid or not.
      if name.count < 40 { #expect(isSealed == ["sealed", "rsa", "ecc", "policy"].contains(name), "\(name)") }
    }
  }
}
