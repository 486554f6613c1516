internal import VaultBytes
public import VaultWire

// The Secret Service of a user's vault.
extension Vault {
  /// Tells how the Secret Service stands: whether it is on, who owns its name on the session bus, and its collections.
  /// For administrators.
  ///
  /// - Parameter reload: whether the bus reads its service files again before.
  public func secretService(reload: Bool = false) throws(ClientError) -> Wire.SecretServiceReply {
    try call(.secretService, again: true, Wire.SecretServiceParameters(reload: reload ? true : nil)).decode()
  }

  /// Has a daemon that is connected to no session bus join the one at `address`, in the form `unix:path=…`, and returns
  /// once the daemon owns the name of the Secret Service there. For administrators.
  public func joinBus(_ address: String) throws(ClientError) {
    _ = try call(.joinBus, again: false, Wire.JoinBusParameters(address: address)).decode(Wire.Empty.self)
  }
}
