import Testing
import VaultTesting

@Suite("The kept fuzz inputs of replies to an import") struct ImportCorpusTests {
  @Test("Each makes no sense, or leads to a plan whose second run stores nothing") func replies() throws {
    let inputs = try Repository.corpus(of: "ImportReplyFuzz")
    #expect(inputs.count >= 16)
    let failing = ["asks", "empty", "negative", "no-json", "order", "sums"]
    for (name, bytes) in inputs {
      // Bytes have no padding.
      let isRead = exerciseImportReply(unsafe bytes.span.bytes)
      // An input that a fuzzing run added has a hash as its name, and may make sense or not.
      if name.count < 40 { #expect(isRead == !failing.contains(name), "\(name)") }
    }
  }
}
