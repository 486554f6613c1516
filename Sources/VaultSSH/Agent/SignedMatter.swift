internal import VaultModel
public import VaultSigning

/// The purpose of a signature. Data with any other meaning are not signed, because the signature would be
/// valid for that meaning.
public enum SignedMatter: Hashable, Sendable {
  case login(UserAuthentication)
  case message(SSHSignatureBlob)

  /// Examines the data of a request.
  ///
  /// - Throws: ``SSHFormatError`` for any other data, and for a login with another key or in another way than the
  ///   request asks for.
  public init(_ data: [UInt8], _ request: SignRequest) throws(SSHFormatError) {
    // Bytes have no padding.
    let bytes = unsafe data.span.bytes
    if SSHSignatureBlob.isBegun(by: bytes) {
      self = .message(try SSHSignatureBlob(bytes))
    } else {
      let login = try UserAuthentication(bytes)
      try login.check(request)
      self = .login(login)
    }
  }

  /// The login, if this is one.
  public var login: UserAuthentication? { if case .login(let login) = self { login } else { nil } }

  /// The purpose in words for a person; the requester's text is quoted.
  ///
  /// - Parameters:
  ///   - key: The words for the key that signs, such as "with `ssh/github`"; nil if it is not known yet.
  ///   - name: Returns the name of a host from its key.
  public func words(by key: String?, over bindings: SessionBindings, _ name: ([UInt8]) -> String) -> String {
    let key = key.map { " \($0)" } ?? ""
    let (asker, way) = (bindings.asker(name), bindings.way(name))
    switch self {
    case .message(let message): return "SSH signature\(asker) for \(Printable.quoted(message.namespace))\(key)\(way)"
    case .login(let login):
      let last = bindings.hops.last { !$0.isForwarding && $0.sessionID == login.sessionID }
      let host = last.map { name($0.hostKey) } ?? "a host that is not known"
      return "SSH login\(asker) to \(host) as \(Printable.quoted(login.user))\(key)\(way)"
    }
  }
}

extension UserAuthentication {
  /// Throws unless the login uses the key that is to sign, in the way that the request asks for.
  fileprivate func check(_ request: SignRequest) throws(SSHFormatError) {
    guard signer == request.key else { throw SSHFormatError("the login is by another key than is to sign") }
    let wanted = SignRequest.Flags(rawValue: scheme.facts.agentFlag)
    if !wanted.isEmpty, request.flags.intersection([.rsaSHA256, .rsaSHA512]) != wanted {
      throw SSHFormatError("the login names another algorithm than is asked for")
    }
  }
}
