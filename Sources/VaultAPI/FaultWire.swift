extension Fault {
  /// Reads the error `name` with its parameters; an unknown name gives ``unknown(_:)``. Throws ``ParameterError``
  /// when the parameters of a known one are not as defined.
  public init(_ frame: borrowing Frame, error name: String, _ parameters: Frame.Node?) throws(ParameterError) {
    let prefix = VaultInterface.name + "."
    guard name.hasPrefix(prefix) else {
      self = try ServiceFault(frame, error: name, parameters).map { .service($0) } ?? .unknown(name)
      return
    }
    var fields = try Fields(frame, parameters)
    switch name.dropFirst(prefix.count) {
    case "NoVault": self = .noVault
    case "VaultExists": self = .vaultExists
    case "Locked":
      self = .locked(state: try fields.string(frame, "state"), cause: try fields.string(frame, "cause"))
    case "TimedOut": self = .timedOut
    case "NoSuchItem":
      self = .noSuchItem(
        name: try fields.string(frame, "name"), unverified: try fields.optionalBool(frame, "unverified"))
    case "NoSuchVersion":
      self = .noSuchVersion(name: try fields.string(frame, "name"), version: try fields.int(frame, "version"))
    case "NoSuchSlot":
      self = .noSuchSlot(id: try fields.int(frame, "id"))
    case "LastSlot": self = .lastSlot
    case "AlreadyExists":
      self = .alreadyExists(name: try fields.string(frame, "name"), failed: try fields.optionalInt(frame, "failed"))
    case "Expired":
      self = .expired(name: try fields.string(frame, "name"), expires: try fields.int64(frame, "expires"))
    case "InvalidName":
      self = .invalidName(
        name: try fields.string(frame, "name"), reason: try fields.string(frame, "reason"),
        failed: try fields.optionalInt(frame, "failed"))
    case "InvalidValue":
      self = .invalidValue(
        kind: try fields.string(frame, "kind"), reason: try fields.string(frame, "reason"),
        failed: try fields.optionalInt(frame, "failed"))
    case "InvalidQuery":
      self = .invalidQuery(reason: try fields.string(frame, "reason"), position: try fields.int(frame, "position"))
    case "AuthenticationFailed":
      self = .authenticationFailed(
        method: try fields.string(frame, "method"), retryAfterMilliseconds: try fields.int(frame, "retry_after_ms"))
    case "MistypedRecoveryCode": self = .mistypedRecoveryCode
    case "BackingOff":
      self = .backingOff(
        method: try fields.string(frame, "method"), retryAfterMilliseconds: try fields.int(frame, "retry_after_ms"))
    case "MethodUnavailable":
      self = .methodUnavailable(
        method: try fields.string(frame, "method"), reason: try fields.string(frame, "reason"))
    case "AccountExpired":
      self = .accountExpired(reason: try fields.string(frame, "reason"))
    case "TooManyTries": self = .tooManyTries
    case "PresenceFailed":
      self = .presenceFailed(reason: try fields.string(frame, "reason"))
    case "PresenceRequired":
      self = .presenceRequired(name: try fields.string(frame, "name"), require: try fields.string(frame, "require"))
    case "Rekeying": self = .rekeying
    case "Cancelled": self = .cancelled
    case "NoSuchConversation": self = .noSuchConversation
    case "WeakSecret":
      self = .weakSecret(reason: try fields.string(frame, "reason"))
    case "InvalidFrame":
      self = .invalidFrame(reason: try fields.string(frame, "reason"))
    case "TooLarge":
      self = .tooLarge(limit: try fields.int(frame, "limit"))
    case "TooMuch":
      self = .tooMuch(reason: try fields.string(frame, "reason"))
    case "TooManyConnections": self = .tooManyConnections
    case "TooManyRequests": self = .tooManyRequests
    case "Denied":
      self = .denied(reason: try fields.string(frame, "reason"))
    case "Corrupt":
      self = .corrupt(reason: try fields.string(frame, "reason"), newer: try fields.bool(frame, "newer"))
    case "StorageFailed":
      self = .storageFailed(reason: try fields.string(frame, "reason"))
    case "OutOfMemory": self = .outOfMemory
    case "Busy":
      self = .busy(reason: try fields.string(frame, "reason"))
    case "InvalidBackup":
      self = .invalidBackup(reason: try fields.string(frame, "reason"))
    case "Misconfigured":
      self = .misconfigured(reason: try fields.string(frame, "reason"))
    default:
      self = .unknown(name)
      return
    }
    try fields.finish(frame)
  }

  /// Writes it as a whole message: an object with `error` and `parameters`.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("error", fullName)
    writer.key("parameters")
    writer.beginObject()
    writeParameters(to: &writer)
    writer.endObject()
    writer.endObject()
  }

  private func writeParameters(to writer: inout JSONWriter) {
    switch self {
    case .locked(let state, let cause):
      writer.field("state", state)
      writer.field("cause", cause)
    case .noSuchItem(let name, let unverified):
      writer.field("name", name)
      writer.field("unverified", unverified)
    case .noSuchVersion(let name, let version):
      writer.field("name", name)
      writer.field("version", version)
    case .noSuchSlot(let id):
      writer.field("id", id)
    case .alreadyExists(let name, let failed):
      writer.field("name", name)
      writer.field("failed", failed)
    case .expired(let name, let expires):
      writer.field("name", name)
      writer.field("expires", expires)
    case .invalidName(let name, let reason, let failed):
      writer.field("name", name)
      writer.field("reason", reason)
      writer.field("failed", failed)
    case .invalidValue(let kind, let reason, let failed):
      writer.field("kind", kind)
      writer.field("reason", reason)
      writer.field("failed", failed)
    case .invalidQuery(let reason, let position):
      writer.field("reason", reason)
      writer.field("position", position)
    case .authenticationFailed(let method, let retryAfterMilliseconds):
      writer.field("method", method)
      writer.field("retry_after_ms", retryAfterMilliseconds)
    case .backingOff(let method, let retryAfterMilliseconds):
      writer.field("method", method)
      writer.field("retry_after_ms", retryAfterMilliseconds)
    case .methodUnavailable(let method, let reason):
      writer.field("method", method)
      writer.field("reason", reason)
    case .accountExpired(let reason):
      writer.field("reason", reason)
    case .presenceRequired(let name, let require):
      writer.field("name", name)
      writer.field("require", require)
    case .presenceFailed(let reason):
      writer.field("reason", reason)
    case .weakSecret(let reason):
      writer.field("reason", reason)
    case .invalidFrame(let reason):
      writer.field("reason", reason)
    case .tooMuch(let reason):
      writer.field("reason", reason)
    case .tooLarge(let limit):
      writer.field("limit", limit)
    case .denied(let reason):
      writer.field("reason", reason)
    case .corrupt(let reason, let newer):
      writer.field("reason", reason)
      writer.field("newer", newer)
    case .storageFailed(let reason):
      writer.field("reason", reason)
    case .busy(let reason):
      writer.field("reason", reason)
    case .invalidBackup(let reason):
      writer.field("reason", reason)
    case .misconfigured(let reason):
      writer.field("reason", reason)
    case .service(let fault): fault.writeParameters(to: &writer)
    default: break
    }
  }
}
