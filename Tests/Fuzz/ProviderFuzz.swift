import CSecret
import VaultBytes
import VaultModel
import VaultWire

@testable import VaultKeyring

@c(LLVMFuzzerTestOneInput)
public func fuzzProvider(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // libFuzzer lends `count` bytes for the call.
  let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
  guard count > 0 else { return 0 }
  if bytes.byte(0) & 1 == 0 {
    exerciseTable(bytes.extracting(droppingFirst: 1))
  } else {
    exerciseMessages(bytes.extracting(droppingFirst: 1))
  }
  return 0
}

/// Reads any bytes as the properties of an object of another keyring, in the encoding of GLib, which checks nothing of
/// them beforehand. What is read of them travels to `vault` as it is.
private func exerciseTable(_ bytes: RawSpan) {
  guard let table = unsafe value(bytes) else { return }
  let properties = unsafe PropertyTable(table)
  let content = ProviderContent(
    label: (try? properties.text("Label")) ?? "", contentType: (try? properties.text("Type")) ?? "",
    attributes: (try? properties.pairs("Attributes")) ?? [], created: properties.time("Created"),
    modified: properties.time("Modified"))
  precondition(KeyringFacts.times.contains(content.created) && KeyringFacts.times.contains(content.modified))
  let paths = (try? properties.paths("Items")) ?? []
  precondition(paths.allSatisfy { $0.utf8.count <= ProviderReply.longestPath })
  let isLocked = (try? properties.flag("Locked")) ?? false
  travels(.item(content, value: SecretBuffer(copying: bytes)))
  for path in paths.prefix(16) { travels(.listed(ProviderPlace(path: path, created: content.created))) }
  travels(
    .collections(
      paths.prefix(16).map {
        ProviderCollection(path: $0, label: content.label, isLocked: isLocked, aliases: [content.contentType])
      }))
}

/// The GVariant of the type `a{sv}` that bytes from a bus stand for. The caller owns it.
private func value(_ bytes: RawSpan) -> OpaquePointer? {
  unsafe bytes.withUnsafeBytes { bytes in
    let data = unsafe g_bytes_new(bytes.baseAddress, gsize(bytes.count))
    defer { unsafe g_bytes_unref(data) }
    let type = unsafe g_variant_type_new("a{sv}")
    defer { unsafe g_variant_type_free(type) }
    return unsafe g_variant_ref_sink(g_variant_new_from_bytes(type, data, 0))
  }
}

/// Encodes a reply, which must be the same once it is read.
private func travels(_ reply: consuming ProviderReply) {
  let frame = reply.frame()
  guard let again = rewritten(frame) else { fatalError("a reply cannot be read") }
  precondition(areEqual(frame, again), "a reply reads differently")
}

/// Reads any bytes as a message between `vault` and `vault-keyring`, which trust nothing in it.
private func exerciseMessages(_ bytes: RawSpan) {
  guard let frame = try? Frame(parsing: bytes) else { return }
  if let call = ProviderCall(frame) {
    let again = call.frame().withBytes { bytes -> ProviderCall? in
      guard let frame = parsed(bytes) else { return nil }
      return ProviderCall(frame)
    }
    precondition(again == call, "a call reads differently")
  }
  switch ProviderReply(frame) {
  case .some(let reply): travels(reply)
  case .none: break
  }
}

private func rewritten(_ frame: borrowing SecretBuffer) -> SecretBuffer? {
  frame.withBytes { bytes in
    guard let frame = parsed(bytes) else { return nil }
    switch ProviderReply(frame) {
    case .some(let reply): return reply.frame()
    case .none: return nil
    }
  }
}

/// Parses an encoded message, which a NUL ends.
private func parsed(_ bytes: RawSpan) -> Frame? {
  precondition(bytes.byteCount > 0 && bytes.byte(bytes.byteCount - 1) == 0)
  return try? Frame(parsing: bytes.extracting(first: bytes.byteCount - 1))
}

private func areEqual(_ left: borrowing SecretBuffer, _ right: borrowing SecretBuffer) -> Bool {
  left.withBytes { left in
    right.withBytes { right in
      let (left, right) = (Span<UInt8>(_bytes: left), Span<UInt8>(_bytes: right))
      return left.count == right.count && left.indices.allSatisfy { left[$0] == right[$0] }
    }
  }
}
