internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultSigning

/// A session of a client: the form in which secrets travel to it and from it. Only the connection that opened it may
/// use it.
final class ClientSession {
  let number: Int
  let peer: BusPeer
  let form: SecretSession
  /// Removes the closure that forgets the session at the end of its connection.
  var release: () -> Void = {}

  init(_ number: Int, _ peer: BusPeer, _ form: consuming SecretSession) {
    (self.number, self.peer) = (number, peer)
    self.form = form
  }
}

// org.freedesktop.Secret.Session, and the secrets in messages.
extension SecretServiceDoor {
  var sessionInterface: BusInterface {
    BusInterface(
      Self.sessionName,
      methods: [
        .init("Close") { [unowned self] request, peer throws(BusError) in
          close(try session(request.path, peer))
          request.reply()
        }
      ])
  }

  func openSession(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    let message = request.message
    guard let algorithm = SecretSession.Algorithm(rawValue: try message.string()) else {
      throw .notSupported("there is no such algorithm")
    }
    let form: SecretSession
    switch algorithm {
    case .plain:
      _ = try message.variant(of: "s") { () throws(BusError) in try message.string() }
      form = .plain()
    case .agreed:
      form = try message.variant(of: "ay") { () throws(BusError) in
        try message.withBytes { key throws(BusError) in
          do throws(SecretSessionError) { return try SecretSession.agree(with: key) } catch { throw BusError(error) }
        }
      }
    }
    let publicKey = form.publicKey
    let session = ClientSession(nextNumber(), peer, form)
    keep(session)
    request.reply { writer throws(BusError) in
      switch algorithm {
      case .plain: writer.variant(of: "s") { writer.string("") }
      case .agreed: writer.variant(of: "ay") { publicKey.withSpan { writer.bytes($0) } }
      }
      writer.path(SecretPath.session(session.number).text)
    }
    if request.hasFailed { close(session) }
  }

  /// The session with this path, if this client opened it.
  func session(_ text: String, _ peer: BusPeer) throws(BusError) -> ClientSession {
    guard case .session(let number)? = path(text), let session = sessions[number], session.peer === peer else {
      throw .noSession
    }
    return session
  }

  /// The types of a secret in a message: its session, parameters, value and content type.
  static let secretTypes = "oayays"

  /// Reads a secret.
  func secret(_ message: BusMessage, _ peer: BusPeer) throws(BusError) -> Keyring.Secret {
    try message.structure(of: Self.secretTypes) { () throws(BusError) in
      let session = try session(try message.objectPath(), peer)
      let parameters = try message.bytes()
      let value = try message.withBytes { value throws(BusError) in
        try parameters.withBytes { parameters throws(BusError) in
          do throws(SecretSessionError) {
            return SecretBox(try session.form.decode(parameters: parameters, value: value))
          } catch {
            throw BusError(error)
          }
        }
      }
      return Keyring.Secret(value, contentType: try message.string())
    }
  }

  /// Writes a secret for the client of a session.
  func write(
    _ value: RawSpan, _ contentType: String, for session: ClientSession, to writer: BusWriter
  ) throws(BusError) {
    let (encoded, parameters) = try Self.encode(value, for: session)
    writer.structure(of: Self.secretTypes) {
      writer.path(SecretPath.session(session.number).text)
      parameters.withSpan { writer.bytes($0) }
      encoded.bytes.withBytes { writer.bytes($0) }
      writer.string(contentType)
    }
  }

  private static func encode(
    _ value: RawSpan, for session: ClientSession
  ) throws(BusError) -> (encoded: SecretBox, parameters: [UInt8]) {
    var parameters: [UInt8] = []
    do throws(SecretSessionError) {
      let count = session.form.encodedCount(value.byteCount)
      let encoded = try SecureBytes(count: count) { room throws(SecretSessionError) in
        parameters = try session.form.encode(value, into: &room)
      }
      return (SecretBox(encoded), parameters)
    } catch {
      throw BusError(error)
    }
  }
}

extension BusError {
  init(_ error: SecretSessionError) {
    switch error {
    case .publicKey: self = BusError(name: Self.malformed.name, text: "the public key is not in the group")
    case .secret: self = BusError(name: Self.malformed.name, text: "the secret is not in the session's form")
    case .tooLong: self = .tooMuch("the secret is too long")
    case .library: self = .failed
    }
  }
}
