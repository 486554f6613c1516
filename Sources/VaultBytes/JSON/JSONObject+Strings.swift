extension JSONObject {
  /// The text of a string; nil for another kind. Not for secrets, because a `String` cannot be wiped.
  public borrowing func string(_ node: Node) -> String? {
    kind(node) == .string ? text(of: record(node)) : nil
  }

  /// True if `node` is a string equal to `text` after its escapes are decoded. Makes no `String`.
  public borrowing func equals(_ node: Node, _ text: StaticString) -> Bool {
    let string = record(node)
    return string.kind == .string && withText { $0.reads(text, at: string) }
  }

  /// The number of UTF-8 bytes of a string with its escapes decoded; nil for another kind.
  public borrowing func secretCount(_ node: Node) -> Int? {
    let string = record(node)
    return string.kind == .string ? Int(string.meant) : nil
  }

  /// Copies a string with its escapes decoded into `target`, whose size must be ``secretCount(_:)``.
  public borrowing func copySecret(_ node: Node, into target: inout MutableRawSpan) {
    precondition(secretCount(node) == target.byteCount)
    let string = record(node)
    withBytes { text in
      // Both sizes are equal, and `target` is held exclusively.
      unsafe target.withUnsafeMutableBytes { target in
        if !string.escaped {
          unsafe text.extracting(Int(string.start)..<Int(string.end))
            .withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        } else {
          var bytes = JSONUnescaping(string)
          var index = 0
          while let byte = bytes.next(Span<UInt8>(_bytes: text)) {
            unsafe target[index] = byte
            index += 1
          }
        }
      }
    }
  }

  /// A copy of a string with its escapes decoded; nil for another kind.
  public borrowing func secret(_ node: Node) -> SecretBuffer? {
    guard let count = secretCount(node) else { return nil }
    var copy = SecretBuffer(capacity: count)
    copy.append(count: count) { copySecret(node, into: &$0) }
    return copy
  }

  /// The number of bytes that a base64 string encodes (RFC 4648, with padding); nil if its length or its padding is
  /// wrong, and for another kind.
  public borrowing func base64Count(_ node: Node) -> Int? {
    let string = record(node)
    guard string.kind == .string else { return nil }
    // Some encoders write the slash as `\/`.
    if string.escaped { return secret(node)?.withBytes { Base64.decodedCount($0) } }
    return withBytes { Base64.decodedCount($0.extracting(Int(string.start)..<Int(string.end))) }
  }

  /// Decodes a base64 string into `target`, whose size must be ``base64Count(_:)``. Returns false if it is not base64;
  /// the content of `target` is then undefined.
  public borrowing func copyBase64(_ node: Node, into target: inout MutableRawSpan) -> Bool {
    let string = record(node)
    guard string.kind == .string else { return false }
    if string.escaped {
      return secret(node)?.withBytes { Base64.decode($0, into: &target) } ?? false
    }
    return withBytes { Base64.decode($0.extracting(Int(string.start)..<Int(string.end)), into: &target) }
  }

  borrowing func text(of string: JSONParser.Record) -> String {
    withBytes { text in
      if !string.escaped {
        // The bytes are lent for the call, and `String` copies them.
        return unsafe text.extracting(Int(string.start)..<Int(string.end))
          .withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      }
      var bytes = JSONUnescaping(string)
      var utf8: [UInt8] = []
      utf8.reserveCapacity(Int(string.meant))
      while let byte = bytes.next(Span<UInt8>(_bytes: text)) { utf8.append(byte) }
      return String(decoding: utf8, as: UTF8.self)
    }
  }
}
