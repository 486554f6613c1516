import Testing
import VaultBytes
import VaultModel

@testable import VaultWire

@Suite("What the daemon and a keystore's program say to each other") struct MessageTests {
  private let key = [UInt8](0..<32)

  /// Returns the text of a frame without its NUL.
  private func text(_ frame: borrowing SecretBuffer) -> String {
    frame.withBytes { span in
      unsafe span.withUnsafeBytes { bytes in
        #expect(unsafe bytes.last == 0)
        return unsafe String(decoding: bytes.dropLast(), as: UTF8.self)
      }
    }
  }

  private func frame(_ text: String) throws -> Frame { try unsafe Frame(parsing: text.utf8.span.bytes) }

  private func bytes(_ key: borrowing SecretBuffer) -> [UInt8] {
    key.withBytes { span in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  @Test("a request arrives as it was sent") func requests() throws {
    let store = KeystoreRequest(.store, vault: "ab", place: "device:/dev/tpmrm0")
    let sent = try unsafe frame(text(store.frame(key: key.span.bytes)))
    #expect(KeystoreRequest(sent) == store)
    switch KeystoreRequest.key(sent) {
    case .some(let got): #expect(bytes(got) == key)
    case .none: Issue.record("the key is gone")
    }
    for operation in [KeystoreRequest.Operation.fetch, .remove] {
      let request = KeystoreRequest(operation, vault: "ab", place: "", locator: [1, 2, 255])
      #expect(KeystoreRequest(try frame(text(request.frame()))) == request)
    }
  }

  @Test(
    "what is no request is none",
    arguments: [
      "{}", #"{"operation":"burn","vault":"","place":"","locator":""}"#,
      #"{"operation":"fetch","vault":"","place":""}"#,
      #"{"operation":"fetch","vault":1,"place":"","locator":""}"#,
      #"{"operation":"fetch","vault":"","place":null,"locator":""}"#,
      #"{"operation":"fetch","vault":"","place":"","locator":"?"}"#,
      #"{"operation":"remove","vault":"","place":"","locator":[1]}"#,
    ])
  func noRequests(_ text: String) throws {
    #expect(KeystoreRequest(try frame(text)) == nil)
  }

  @Test("a locator beyond 1 KiB and a key of another size are refused") func sizes() throws {
    let long = KeystoreRequest(.fetch, vault: "", place: "", locator: [UInt8](repeating: 7, count: 1025))
    #expect(KeystoreRequest(try frame(text(long.frame()))) == nil)
    for count in [0, 31, 33] {
      let store = KeystoreRequest(.store, vault: "", place: "")
      let sent = try unsafe frame(text(store.frame(key: [UInt8](repeating: 7, count: count).span.bytes)))
      if case .some = KeystoreRequest.key(sent) { Issue.record("a key of \(count) bytes") }
    }
  }

  @Test("a reply arrives as it was sent") func replies() throws {
    switch KeystoreReply(try frame(text(KeystoreReply.stored(locator: [9, 8]).frame())), to: .store) {
    case .stored(let locator): #expect(locator == [9, 8])
    default: Issue.record("not stored")
    }
    switch KeystoreReply(
      try frame(text(KeystoreReply.fetched(key: unsafe SecretBuffer(copying: key.span.bytes)).frame())), to: .fetch)
    {
    case .fetched(let got): #expect(bytes(got) == key)
    default: Issue.record("not fetched")
    }
    switch KeystoreReply(try frame(text(KeystoreReply.removed.frame())), to: .remove) {
    case .removed: break
    default: Issue.record("not removed")
    }
    for code in [KeystoreError.Code.unavailable, .notFound, .refused, .damaged] {
      let error = KeystoreError(code, "why: \"so\"")
      switch KeystoreReply(try frame(text(KeystoreReply.failed(error).frame())), to: .fetch) {
      case .failed(let got): #expect(got == error)
      default: Issue.record("not failed")
      }
    }
  }

  @Test("a reply to something else is none") func wrongReplies() throws {
    let removed = try frame(text(KeystoreReply.removed.frame()))
    for operation in [KeystoreRequest.Operation.store, .fetch] {
      if case .some = KeystoreReply(removed, to: operation) { Issue.record("\(operation)") }
    }
    for text in ["{}", #"{"error":"odd","reason":"x"}"#, #"{"error":"refused"}"#, #"{"key":"AAAA"}"#] {
      let reply = try frame(text)
      for operation in [KeystoreRequest.Operation.fetch, .remove] {
        if case .some = KeystoreReply(reply, to: operation) { Issue.record("\(operation): \(text)") }
      }
    }
  }
}
