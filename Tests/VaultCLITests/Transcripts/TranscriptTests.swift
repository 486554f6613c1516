import Testing
import VaultTesting

@Suite("Transcripts") struct TranscriptTests {
  @Test("what is typed is answered as written down", arguments: Transcript.names)
  func replay(name: String) throws {
    let transcript = try Transcript(named: name)
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    for file in transcript.files { try sandbox.write(file.text, to: file.name) }
    try #require(!transcript.steps.isEmpty)
    for step in transcript.steps {
      let outcome = try sandbox.run(
        ["-c", "cd; \(step.command)"], program: "/bin/sh",
        environment: ["FLOOR": "--kdf-memory 19m --kdf-passes 2"])
      let place = "\(name).txt:\(step.line): \(step.command)\n\(outcome)"
      try #require(outcome.status == step.status, "\(place)")
      try #require(Pattern(text: step.output).matches(outcome.output), "\(place)")
      try #require(Pattern(text: step.errors).matches(outcome.errors), "\(place)")
    }
  }

  @Test("a pattern matches what it says and nothing else")
  func patterns() {
    #expect(Pattern(text: "a<*>c\nd\n").matches("abc\nd\n"))
    #expect(Pattern(text: "<*>\n").matches("\n"))
    #expect(Pattern(text: "a<*>b<*>c").matches("a--b--c"))
    #expect(!Pattern(text: "a<*>c\n").matches("abc"))
    #expect(!Pattern(text: "a\n").matches("a\nb\n"))
    #expect(!Pattern(text: "a<*>b<*>c").matches("a--c"))
    #expect(!Pattern(text: "<*>b").matches("a\nb"))
  }
}
