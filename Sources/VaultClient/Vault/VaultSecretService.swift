internal import VaultBytes
public import VaultWire

// The Secret Service of a user's vault.
extension Vault {
  /// Returns the state of the Secret Service: whether it is on, who owns its name on the session bus, and its
  /// collections. For administrators.
  ///
  /// - Parameter reload: true to make the bus read its service files again first.
  public func secretService(reload: Bool = false) throws(ClientError) -> Wire.SecretServiceReply {
    try call(.secretService, again: true, Wire.SecretServiceParameters(reload: reload ? true : nil)).decode()
  }

  /// Makes a daemon that is connected to no session bus join the bus at `address`, in the form `unix:path=…`, and
  /// returns once the daemon owns the name of the Secret Service there. For administrators.
  public func joinBus(_ address: String) throws(ClientError) {
    _ = try call(.joinBus, again: false, Wire.JoinBusParameters(address: address)).decode(Wire.Empty.self)
  }
}
