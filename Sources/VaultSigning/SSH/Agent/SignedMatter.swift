internal import VaultModel

/// What a signature is for. Data that mean anything else are not signed, because the signature would be good for that.
public enum SignedMatter: Hashable, Sendable {
  case login(UserAuthentication)
  case message(SSHSignatureBlob)

  /// Looks at the data of a request.
  ///
  /// - Throws: ``SSHFormatError`` for anything else, and for a login by another key or in another way than the request asks for.
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

  /// The login, where it is one.
  public var login: UserAuthentication? { if case .login(let login) = self { login } else { nil } }

  /// The matter in words for a person, in which the requester's text is quoted.
  ///
  /// - Parameters:
  ///   - key: the words for the key that signs, such as "with `ssh/github`"; nil where it is not known yet.
  ///   - name: the name of a host by its key.
  public func words(by key: String?, over bindings: SessionBindings, _ name: ([UInt8]) -> String) -> String {
    let key = key.map { " \($0)" } ?? ""
    // Whoever a host forwards the agent to asks through it.
    let relay =
      (bindings.hops.last { $0.isForwarding }.map { ", for someone on \(name($0.hostKey))" } ?? "")
      + (bindings.isBroken ? ", for someone who may be on any host" : "")
    switch self {
    case .message(let message): return "SSH signature for \(Self.quoted(message.namespace))\(key)\(relay)"
    case .login(let login):
      let last = bindings.hops.last { !$0.isForwarding && $0.sessionID == login.sessionID }
      let host = last.map { name($0.hostKey) } ?? "a host that is not known"
      return "SSH login to \(host) as \(Self.quoted(login.user))\(key)\(relay)"
    }
  }

  /// A quotation that ends where it seems to: the text could hold a backquote, and words like these after it.
  private static func quoted(_ text: String) -> String {
    Printable.quoted(String(text.map { $0 == "`" ? "'" : $0 }))
  }
}

extension UserAuthentication {
  /// Throws unless the login is by the key that is to sign, in the way that the request asks for.
  fileprivate func check(_ request: SignRequest) throws(SSHFormatError) {
    guard signer == request.key else { throw SSHFormatError("the login is by another key than is to sign") }
    let wanted: SignRequest.Flags? =
      algorithm.hasPrefix("rsa-sha2-256") ? .rsaSHA256 : algorithm.hasPrefix("rsa-sha2-512") ? .rsaSHA512 : nil
    if let wanted, request.flags.intersection([.rsaSHA256, .rsaSHA512]) != wanted {
      throw SSHFormatError("the login names another algorithm than is asked for")
    }
  }
}
