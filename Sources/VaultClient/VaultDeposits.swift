public import VaultWire

extension Vault {
  /// The item that a value is left for.
  public struct DepositTarget: Sendable {
    public var name: String
    /// Of a new item, ``VaultModel/ItemKind/password`` unless given; one that is there has to be of it.
    public var kind: String?
    /// Of a new item, none unless given; one that is there has to have the same.
    public var attributes: [String: String]?
    /// The class of a new item, `when-unlocked` unless given; one that is there has to be of it.
    public var accessible: String?

    /// Names an item.
    public init(
      _ name: String, kind: String? = nil, attributes: [String: String]? = nil, accessible: String? = nil
    ) {
      (self.name, self.kind, self.attributes, self.accessible) = (name, kind, attributes, accessible)
    }
  }

  /// Leaves `value` for an item, also while the vault is locked. It makes the item, or adds a version to it where the caller
  /// may set that; else it is kept aside for an administrator.
  ///
  /// The reply says what came of it, as far as the caller may know. ``reason`` goes along, for the audit log.
  public func deposit(
    _ target: DepositTarget, value: borrowing SecretBuffer
  ) throws(ClientError) -> Wire.DepositReply {
    let parameters = Wire.DepositParameters(
      name: target.name, kind: target.kind, attributes: target.attributes, accessible: target.accessible,
      reason: reason)
    return try call(.deposit, again: false) { writer in
      value.withBytes { parameters.write(to: &writer, secret: $0) }
    }.decode()
  }

  /// Seals `value` to the public key of another vault, as ``publicKey()`` tells it there, for ``deposit(sealed:)`` there. It
  /// needs no vault here.
  public func sealDeposit(
    _ target: DepositTarget, value: borrowing SecretBuffer, to key: String
  ) throws(ClientError) -> Wire.SealDepositReply {
    let parameters = Wire.SealDepositParameters(
      key: key, name: target.name, kind: target.kind, attributes: target.attributes, accessible: target.accessible)
    return try call(.sealDeposit, again: true) { writer in
      value.withBytes { parameters.write(to: &writer, secret: $0) }
    }.decode()
  }

  /// Leaves what ``sealDeposit(_:value:to:)`` has sealed to this vault's key. It counts once, and for 30 days.
  public func deposit(sealed box: String) throws(ClientError) -> Wire.DepositSealedReply {
    try call(.depositSealed, again: false, Wire.DepositSealedParameters(box: box, reason: reason)).decode()
  }

  /// The public key of the vault, to which values are sealed, and a fingerprint to compare it by.
  ///
  /// It is ``Fault/locked(state:cause:)`` until the daemon's first unlock.
  public func publicKey() throws(ClientError) -> Wire.PublicKeyReply {
    try call(.publicKey, again: true, Wire.Empty()).decode()
  }

  /// What was left and is not taken in: what waits for the next unlock, and what was kept aside. For administrators.
  public func deposits() throws(ClientError) -> [Wire.DepositInfo] {
    try gather(.deposits, Wire.Empty()) { replies throws(ClientError) in
      var found: [Wire.DepositInfo] = []
      var size = AnswerSize(limit: longestReport)
      while let response = try replies.next(timeout: timeout) {
        try size.add(response)
        found += try response.decode(Wire.DepositsReply.self).deposits
      }
      return found
    }
  }

  /// Makes what was kept aside the value of its item, as if the caller had set it, or drops it.
  @discardableResult
  public func settleDeposit(_ number: Int, accept: Bool) throws(ClientError) -> Wire.SettleDepositReply {
    try call(
      .settleDeposit, again: false,
      Wire.SettleDepositParameters(number: number, accept: accept, interactive: attended)
    ).decode()
  }
}
