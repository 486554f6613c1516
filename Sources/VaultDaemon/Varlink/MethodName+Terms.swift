internal import VaultService
internal import VaultWire

extension MethodName {
  /// The terms on which a method is answered: what it needs of the audit log where that is required, and when its entry
  /// is there.
  var terms: CallTerms { CallTerms(fullName, needs: need, entry: entry) }

  private var need: CallTerms.Need {
    switch self {
    // An unlock, a lock, and what they need; and the settings, which say whether the log is required.
    case .getInfo, .getInterfaceDescription, .status, .unlock, .respond, .lock, .attend, .confirm, .dismiss, .reload:
      .nothing
    // The calls that find out what is left of a store that has failed, and save it.
    case .audit, .verify, .salvage, .backup, .repairAudit: .logUnlessFailed
    case .`init`, .restore, .authenticate, .get, .code, .sign, .mac, .issueToken, .verifyToken, .revokeToken, .set,
      .setMany, .deposit, .sealDeposit, .depositSealed, .publicKey, .deposits, .settleDeposit, .generate, .copy, .show,
      .find, .children, .attributes, .delete, .undelete, .emptyTrash, .restoreVersion, .move, .history, .listSlots,
      .changePassword, .markStale, .addSlot, .removeSlot, .rekey, .repairClock, .grant, .revoke, .grants, .can, .whoMay,
      .confirmGrants, .forgetSubject, .requests, .approve, .deny, .forgetDenial, .monitor, .receipt:
      .log
    }
  }

  private var entry: CallTerms.Entry {
    switch self {
    case .getInfo, .getInterfaceDescription, .status: .none
    // A lock of what is locked already changes nothing, and an answer is a part of what asked for it.
    case .respond, .lock: .ofRefusals
    case .get: .withValue
    case .`init`, .unlock, .authenticate, .changePassword, .addSlot, .removeSlot, .rekey, .restore: .last
    case .attend, .confirm, .dismiss, .code, .sign, .mac, .issueToken, .verifyToken, .revokeToken, .set, .setMany,
      .deposit, .sealDeposit, .depositSealed, .publicKey, .deposits, .settleDeposit, .generate, .copy, .show, .find,
      .children, .attributes, .delete, .undelete, .emptyTrash, .restoreVersion, .move, .history, .listSlots, .markStale,
      .grant, .revoke, .audit, .grants, .can, .whoMay, .confirmGrants, .forgetSubject, .requests, .approve, .deny,
      .forgetDenial, .verify, .monitor, .receipt, .backup, .salvage, .repairAudit, .repairClock, .reload:
      .first
    }
  }

  /// The content of its replies, which a lock is to wipe before it is read: that of every class for what comes of a
  /// value, unless the reply says which one.
  var content: ReplyContent {
    switch self {
    case .get, .code, .sign, .mac, .issueToken, .generate: .whenUnlocked
    // They tell of a value what a public key, or whoever has the token, tells too.
    case .publicKey, .verifyToken: []
    case .getInfo, .getInterfaceDescription, .status, .unlock, .respond, .lock, .attend, .confirm, .dismiss, .audit,
      .verify, .salvage, .backup, .repairAudit, .`init`, .restore, .authenticate, .revokeToken, .set, .setMany,
      .deposit, .sealDeposit, .depositSealed, .deposits, .settleDeposit, .copy, .show, .find, .children, .attributes,
      .delete, .undelete, .emptyTrash, .restoreVersion, .move, .history, .listSlots, .changePassword, .markStale,
      .addSlot, .removeSlot, .rekey, .repairClock, .grant, .revoke, .grants, .can, .whoMay, .confirmGrants,
      .forgetSubject, .requests, .approve, .deny, .forgetDenial, .monitor, .receipt, .reload:
      []
    }
  }
}
