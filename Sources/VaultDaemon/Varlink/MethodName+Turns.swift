internal import VaultWire

extension MethodName {
  /// True when what it does can take longer than reading one item does: it writes, or walks over many.
  var takesLong: Bool {
    switch self {
    case .find, .children, .attributes, .set, .setMany, .copy, .code, .delete, .undelete, .emptyTrash, .restoreVersion,
      .move, .backup, .salvage, .rekey, .repairAudit, .markStale, .getInterfaceDescription,
      .sign, .mac, .verifyToken, .revokeToken, .publicKey,
      .deposit, .sealDeposit, .depositSealed, .deposits, .settleDeposit:
      true
    default: false
    }
  }
}
