import VaultSigning

@testable import VaultSSH

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzAgent(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
    _ = exerciseAgentFrame(bytes)
    _ = exerciseSignedData(bytes)
    exerciseAgentConversation(bytes)
    return 0
  }
#endif

/// Reads any bytes as a request to an agent. Either the request is refused with a reason, or its ranges lie within the
/// frame, and parts that can be written again give the same bytes. Returns true if the request was read.
func exerciseAgentFrame(_ frame: RawSpan) -> Bool {
  do throws(SSHFormatError) {
    let request = try AgentRequest(frame)
    check(request, frame)
    return true
  } catch {
    if error.reason.isEmpty { fatalError("no reason") }
    return false
  }
}

private func check(_ request: AgentRequest, _ frame: RawSpan) {
  switch request {
  case .list, .removeAll, .query, .unsupported, .unknownExtension, .bind(nil): break
  case .sign(let sign):
    _ = exerciseSignedData(frame.extracting(sign.data))
    expect(frame, 13) {
      $0.string(sign.key)
      $0.string(copy(frame, sign.data))
      $0.uint32(sign.flags.rawValue)
    }
  case .add(let key):
    var reader = SSHReader(key.privateKey)
    guard let type = try? reader.text(frame, atMost: 64), type == key.type, key.privateKey.lowerBound == 1 else {
      fatalError("a key without its type")
    }
    if let destinations = key.constraints.destinations { exercise(destinations) }
  case .remove(let key): expect(frame, 18) { $0.string(key) }
  case .lock(let range): expect(frame, 22) { $0.string(copy(frame, range)) }
  case .unlock(let range): expect(frame, 23) { $0.string(copy(frame, range)) }
  case .bind(let bind?):
    expect(frame, 27) {
      $0.string(SessionBind.name)
      $0.string(bind.hostKey)
      $0.string(bind.sessionID)
      $0.string(bind.signature)
      $0.boolean(bind.isForwarding)
    }
  }
}

private func exercise(_ destinations: DestinationConstraints) {
  let content = destinations.encoded()
  // Bytes have no padding: all are initialized.
  guard (try? DestinationConstraints(unsafe content.span.bytes)) == destinations else {
    fatalError("other constraints after being written")
  }
}

/// Reads any bytes as data for an agent to sign, and writes them again. Returns true if they were read.
func exerciseSignedData(_ data: RawSpan) -> Bool {
  if let blob = try? SSHSignatureBlob(data) {
    guard blob.hash.count == blob.hashAlgorithm.size, !blob.namespace.isEmpty else {
      fatalError("a hash of another size")
    }
    expect(data) {
      for byte in "SSHSIG".utf8 { $0.byte(byte) }
      $0.string(blob.namespace)
      $0.string("")
      $0.string(blob.hashAlgorithm.rawValue)
      $0.string(blob.hash)
    }
    return true
  }
  guard let login = try? UserAuthentication(data) else { return false }
  expect(data) {
    $0.string(login.sessionID)
    $0.byte(50)
    $0.string(login.user)
    $0.string("ssh-connection")
    $0.string(login.hostKey == nil ? "publickey" : "publickey-hostbound-v00@openssh.com")
    $0.boolean(true)
    $0.string(login.algorithm)
    $0.string(login.key)
    if let hostKey = login.hostKey { $0.string(hostKey) }
  }
  return true
}

/// Reads any bytes as the frames of one connection: binds are added, and the constraints of the last key decide. A key
/// that may sign must also be listed, and no connection may have more sessions than allowed.
func exerciseAgentConversation(_ stream: RawSpan) {
  var reader = SSHReader(stream)
  var bindings = SessionBindings()
  var constraints: DestinationConstraints?
  while let range = try? reader.string(stream) {
    let frame = stream.extracting(range)
    guard let request = try? AgentRequest(frame) else { continue }
    switch request {
    case .bind(let bind): if let bind { try? bindings.add(bind) } else { bindings.fail() }
    case .add(let key): constraints = key.constraints.destinations ?? constraints
    case .sign(let sign):
      let login = try? UserAuthentication(frame.extracting(sign.data))
      guard let constraints, let route = try? constraints.permitSigning(login, over: bindings) else { continue }
      guard constraints.permitsListing(over: bindings), !route.to.isEmpty,
        (route.through == nil) == !bindings.isForwarded
      else { fatalError("a key that signs unseen") }
    default: continue
    }
    if let constraints { _ = constraints.permitsListing(over: bindings) }
    let logins = bindings.hops.dropLast().filter { !$0.isForwarding }
    guard bindings.hops.count <= SessionBindings.limit, logins.isEmpty else { fatalError("more sessions than may be") }
  }
}

/// Ends the process unless `bytes` are `type`, if given, followed by the output of `body`.
private func expect(_ bytes: RawSpan, _ type: UInt8? = nil, _ body: (inout SSHWriter) -> Void) {
  var writer = SSHWriter()
  if let type { writer.byte(type) }
  body(&writer)
  guard writer.bytes == copy(bytes, 0..<bytes.byteCount) else { fatalError("another text after being written") }
}

private func copy(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8] {
  unsafe bytes.extracting(range).withUnsafeBytes { unsafe [UInt8]($0) }
}
