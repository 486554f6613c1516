import Testing
import VaultBytes
import VaultModel
import VaultWire

/// The messages between vaultd and vault-pam.
@Suite struct PresenceTests {
  private let outcomes: [PresenceOutcome] = [
    .succeeded, .failed, .unavailable("no reader"), .cancelled, .expired("since May"), .tooManyTries,
    .broken("crashed"),
  ]

  private func text(_ value: some WireValue) -> String { written { value.write(to: &$0) } }

  @Test("What is written is what is read") func isFaithful() throws {
    for outcome in outcomes {
      let message = PresenceWire.Message.outcome(outcome)
      let frame = try frame(text(message))
      #expect(try PresenceWire.Message(frame, frame.root) == message)
    }
    for style in ["secret", "visible", "info", "error"] {
      let style = try #require(PresenceWire.Style(rawValue: style))
      let message = PresenceWire.Message.prompt(.init(style: style, text: "Pæss\"\n"))
      let frame = try frame(text(message))
      #expect(try PresenceWire.Message(frame, frame.root) == message)
    }
    for request in [
      PresenceWire.Request(service: "vault", uid: 0), .init(service: "vault-biometry", uid: .max, requester: "ana"),
    ] {
      let frame = try frame(text(request))
      #expect(try PresenceWire.Request(frame, frame.root) == request)
    }
  }

  @Test("Nothing but a whole outcome is one, so that no damage reads as a yes") func isStrict() throws {
    for text in [
      "{}", #"{"outcome":"yes"}"#, #"{"outcome":"Succeeded"}"#, #"{"outcome":true}"#, #"{"outcome":"succeeded","x":1}"#,
      #"{"outcome":"succeeded","reason":"r"}"#, #"{"outcome":"broken"}"#, #"{"outcome":"expired"}"#,
      #"{"outcome":"succeeded","prompt":{"style":"info","text":"x"}}"#, #"{"prompt":{"style":"confirm","text":"x"}}"#,
      #"{"prompt":{"style":"info"}}"#, #"{"prompt":"x"}"#,
    ] {
      let frame = try frame(text)
      #expect(throws: ParameterError.self, "\(text)") { try PresenceWire.Message(frame, frame.root) }
    }
    for text in [
      #"{"service":"vault"}"#, #"{"service":"vault","uid":-1}"#, #"{"service":"vault","uid":4294967296}"#,
      #"{"service":"vault","uid":1.5}"#, #"{"service":"vault","uid":1,"x":1}"#, #"{"uid":1}"#,
    ] {
      let frame = try frame(text)
      #expect(throws: ParameterError.self, "\(text)") { try PresenceWire.Request(frame, frame.root) }
    }
  }

  @Test("An answer arrives byte for byte, text or not") func answers() throws {
    for answer: [UInt8] in [[], Array("pæss\"\\\n".utf8), [0x00], [0xFF, 0xFE], Array(repeating: 0x41, count: 511)] {
      let sent = SecretBuffer(answer).withBytes { PresenceWire.frame(answering: $0) }
      var reader = FrameReader()
      try sent.withBytes { bytes throws(FrameError) in try reader.append(bytes) }
      guard let frame = try reader.next() else { throw Missing() }
      let received = try PresenceWire.answer(frame).array
      #expect(received == answer)
    }
    for text in ["{}", #"{"answer":1}"#, #"{"answer":"a","data":"YQ=="}"#, #"{"data":"a"}"#, #"{"answer":"a","x":1}"#] {
      let frame = try frame(text)
      #expect(throws: ParameterError.self, "\(text)") { _ = try PresenceWire.answer(frame).count }
    }
  }
}
