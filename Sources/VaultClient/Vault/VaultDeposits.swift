public import VaultBytes
public import VaultWire

extension Vault {
  /// The item that a deposit is for.
  public struct DepositTarget: Sendable {
    public var name: String
    /// The kind of a new item, ``VaultModel/ItemKind/password`` by default. An existing item must have the kind that is
    /// given.
    public var kind: String?
    /// The attributes of a new item, none by default. An existing item must have the attributes that are given.
    public var attributes: [String: String]?
    /// The class of a new item, `when-unlocked` by default. An existing item must have the class that is given.
    public var accessible: String?

    /// Makes the target of a deposit; nil leaves a fact about the item open.
    public init(
      _ name: String, kind: String? = nil, attributes: [String: String]? = nil, accessible: String? = nil
    ) {
      (self.name, self.kind, self.attributes, self.accessible) = (name, kind, attributes, accessible)
    }
  }

  /// Deposits `value` for an item, even while the vault is locked. The deposit makes the item, or adds a version to it
  /// if the caller may set the item. Otherwise it is kept aside for an administrator.
  ///
  /// The reply tells the result, as far as the caller may know it. ``reason`` is sent along for the audit log.
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

  /// Seals `value` to the public key of another vault, for ``deposit(sealed:)`` there. ``publicKey()`` on that vault
  /// returns the key. No vault is needed here.
  public func sealDeposit(
    _ target: DepositTarget, value: borrowing SecretBuffer, to key: String
  ) throws(ClientError) -> Wire.SealDepositReply {
    let parameters = Wire.SealDepositParameters(
      key: key, name: target.name, kind: target.kind, attributes: target.attributes, accessible: target.accessible)
    return try call(.sealDeposit, again: true) { writer in
      value.withBytes { parameters.write(to: &writer, secret: $0) }
    }.decode()
  }

  /// Deposits a value that ``sealDeposit(_:value:to:)`` sealed to this vault's key. A sealed deposit is valid once, and
  /// for 30 days.
  public func deposit(sealed box: String) throws(ClientError) -> Wire.DepositSealedReply {
    try call(.depositSealed, again: false, Wire.DepositSealedParameters(box: box, reason: reason)).decode()
  }

  /// Returns the vault's public key, to which values are sealed, and a fingerprint to compare.
  ///
  /// - Throws: ``Fault/locked(state:cause:)`` until the daemon's first unlock.
  public func publicKey() throws(ClientError) -> Wire.PublicKeyReply {
    try call(.publicKey, again: true, Wire.Empty()).decode()
  }

  /// Returns the deposits that are not part of the vault yet: those that wait for the next unlock, and those kept
  /// aside. For administrators.
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

  /// Makes a deposit that was kept aside the value of its item, as if the caller had set it, or drops the deposit.
  @discardableResult
  public func settleDeposit(_ number: Int, accept: Bool) throws(ClientError) -> Wire.SettleDepositReply {
    try call(
      .settleDeposit, again: false,
      Wire.SettleDepositParameters(number: number, accept: accept, interactive: attended)
    ).decode()
  }
}
