import Testing
import VaultTesting

@Suite("The kept inputs of the fuzzers of an agent") struct AgentCorpusTests {
  @Test("each is refused, or read and written again the same, whatever it is taken for") func agent() throws {
    let inputs = try Repository.corpus(of: "AgentFuzz")
    #expect(inputs.count >= 19)
    let signed: Set = ["login", "login-unbound", "login-certificate", "sshsig"]
    let refused: Set = ["add-certificate", "empty"]
    for (name, bytes) in inputs {
      let bytes = unsafe bytes.span.bytes
      exerciseAgentConversation(bytes)
      #expect(exerciseSignedData(bytes) == signed.contains(name) || name.count >= 40, "\(name)")
      // Other data begin with a length, and a frame of type 0 is merely unknown.
      #expect(exerciseAgentFrame(bytes) != refused.contains(name) || name.count >= 40, "\(name)")
    }
  }

  @Test("each text of a known_hosts file gives names that are names") func knownHosts() throws {
    let inputs = try Repository.corpus(of: "KnownHostsFuzz")
    #expect(inputs.count >= 10)
    let fruitless: Set = ["hashed-bad", "comment", "other-key", "empty"]
    for (name, bytes) in inputs {
      exerciseHostKey(unsafe bytes.span.bytes)
      #expect(unsafe exerciseKnownHosts(bytes.span.bytes) != fruitless.contains(name) || name.count >= 40, "\(name)")
    }
  }
}
