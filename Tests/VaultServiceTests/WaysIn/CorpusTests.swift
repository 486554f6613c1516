import Testing
import VaultTesting

@testable import VaultService

@Suite("The kept inputs of the fuzzer of failed attempts") struct CorpusTests {
  @Test("Each file of failed attempts holds everybody back who is in it, and nobody for too long") func backoff() throws
  {
    let texts = try Repository.texts(of: "BackoffFuzz")
    #expect(texts.count >= 11)
    for (name, text) in texts {
      let backoff = try #require(bootTimes.map { exerciseBackoff(text, now: $0) }.last)
      // If the file cannot be read, everybody is suspected.
      let isDoubted = ["garbage", "count-low", "uid-huge", "everybody", "everybody-twice", "everybody-earlier"]
      if name.count < 40 { #expect((backoff.suspicion != nil) == isDoubted.contains(name), "\(name)") }
    }
  }
}
