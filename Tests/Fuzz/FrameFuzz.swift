import VaultBytes
import VaultWire

/// Parses any bytes as frames: the parser must return an error, or a frame on which all accessors succeed.
#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzFrames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
    _ = exerciseFrame(bytes)
    exerciseReader(bytes)
    return 0
  }
#endif

/// Parses `text`, reads everything in it in every way, writes it out again and parses the result. Returns true if it
/// was a frame.
func exerciseFrame(_ text: RawSpan) -> Bool {
  guard let frame = try? Frame(parsing: text) else { return false }
  readAsMessages(frame)
  readAsHelpers(frame)
  let copy = rewritten(frame)
  let again = try? copy.withBytes { bytes throws(FrameError) in try Frame(parsing: bytes) }
  guard let again else { fatalError("what was written cannot be read") }
  let isSame = rewritten(again).withBytes { twice in copy.withBytes { once in areEqual(once, twice) } }
  precondition(isSame, "what was written reads differently")
  return true
}

/// Passes the beginning of `stream` to a reader in chunks of changing size; the frames must be those of a single chunk.
func exerciseReader(_ stream: RawSpan) {
  let stream = stream.extracting(first: 1024)
  var whole = FrameReader(limit: 256)
  var parts = FrameReader(limit: 256)
  let isWhole = (try? whole.append(stream)) != nil
  var arePartsWhole = true
  var (first, second) = (0, 0)
  var at = 0
  var size = 1
  while at < stream.byteCount {
    let end = min(at + size, stream.byteCount)
    if (try? parts.append(stream.extracting(at..<end))) == nil { arePartsWhole = false }
    second += take(&parts)
    at = end
    size = size * 3 % 61 + 1
  }
  first = take(&whole)
  precondition(isWhole == arePartsWhole, "the limit depends on the chunks")
  precondition(!isWhole || first == second, "the frames depend on the chunks")
}

/// The number of frames that can be taken; invalid ones do not count.
private func take(_ reader: inout FrameReader) -> Int {
  var count = 0
  while true {
    do {
      guard try reader.next() != nil else { return count }
      count += 1
    } catch {}
  }
}

private func readAsMessages(_ frame: borrowing Frame) {
  if let call = try? Call(frame) {
    _ = MethodName(frame, call.method)
    if let set = try? Wire.SetParameters(frame, call.parameters) { _ = try? frame.content(set.value, set.data) }
    for type in parameters { read(type, frame, call.parameters) }
  }
  if let reply = try? Reply(frame) {
    _ = reply.error.map { try? Fault(frame, error: $0, reply.parameters) }
    for type in replies { read(type, frame, reply.parameters) }
  }
}

private let parameters: [any WireValue.Type] = [
  Wire.GetParameters.self, Wire.SetManyParameters.self, Wire.FindParameters.self, Wire.DeleteParameters.self,
  Wire.InitParameters.self, Wire.UnlockParameters.self, Wire.RespondParameters.self, Wire.AddSlotParameters.self,
  Wire.RekeyParameters.self, Wire.RestoreParameters.self,
]

private let replies: [any WireValue.Type] = [
  Wire.StatusReply.self, Wire.FindReply.self, Wire.ListSlotsReply.self, Wire.VerifyReply.self,
  Wire.Reply<Wire.RekeyReply>.self, Wire.MonitorReply.self,
]

private func read(_ type: (some WireValue).Type, _ frame: borrowing Frame, _ node: Frame.Node?) {
  _ = try? type.init(frame, node)
}

/// Reads a frame as the daemon reads the messages of the keystore and PAM programs.
private func readAsHelpers(_ frame: borrowing Frame) {
  for operation in [KeystoreRequest.Operation.store, .fetch, .remove] {
    if case .fetched(let key)? = KeystoreReply(frame, to: operation) {
      precondition(key.count == KeystoreRequest.keyCount, "a key of another length")
    }
  }
  if let message = try? PresenceWire.Message(frame, frame.root) {
    var writer = JSONWriter()
    message.write(to: &writer)
    let copy = writer.take()
    let again = try? copy.withBytes { bytes throws(FrameError) in try Frame(parsing: bytes) }
    guard let again, (try? PresenceWire.Message(again, again.root)) == message else { fatalError("another message") }
  }
}

private func rewritten(_ frame: borrowing Frame) -> SecretBuffer {
  var writer = JSONWriter()
  rewrite(frame, frame.root, &writer)
  return writer.take()
}

private func rewrite(_ frame: borrowing Frame, _ node: Frame.Node, _ writer: inout JSONWriter) {
  switch frame.kind(node) {
  case .object:
    writer.beginObject()
    for (key, value) in frame.members(of: node) {
      writer.key(key)
      rewrite(frame, value, &writer)
    }
    writer.endObject()
  case .array:
    writer.beginArray()
    for element in frame.elements(of: node) { rewrite(frame, element, &writer) }
    writer.endArray()
  case .string:
    guard let secret = frame.secret(node) else { fatalError("a string without text") }
    precondition(secret.count == frame.string(node)?.utf8.count)
    secret.withBytes { writer.secret($0) }
    _ = try? frame.content(nil, node)
  case .number: if let value = frame.integer(node) { writer.integer(value) } else { writer.null() }
  case .bool: writer.bool(frame.bool(node) == true)
  case .null: writer.null()
  }
}

private func areEqual(_ left: RawSpan, _ right: RawSpan) -> Bool {
  let (left, right) = (Span<UInt8>(_bytes: left), Span<UInt8>(_bytes: right))
  return left.count == right.count && left.indices.allSatisfy { left[$0] == right[$0] }
}
