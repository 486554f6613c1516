import Testing
import VaultModel
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The kept inputs of the fuzzers of the daemon's files") struct CorpusTests {
  @Test("Each vaultd.conf is refused at one of its lines, or gives settings within their limits") func settings() throws
  {
    let readable: Set = ["every-key", "other-forms", "credential", "empty", "line-ends"]
    let texts = try Repository.texts(of: "ConfigurationFuzz")
    #expect(texts.count >= 11)
    for (name, text) in texts {
      let isRead = exerciseConfiguration(text)
      // An input that a fuzzing run added has a hash as its name, and may be valid or not.
      if name.count < 40 { #expect(isRead == readable.contains(name), "\(name)") }
    }
  }
}
