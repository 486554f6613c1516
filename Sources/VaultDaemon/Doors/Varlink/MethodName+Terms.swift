internal import VaultService
internal import VaultWire

extension MethodName {
  /// The terms on which a method is answered: its need of the audit log if the log is required, and when its entry is
  /// written.
  var terms: CallTerms { CallTerms(fullName, needs: need, entry: entry) }

  private var need: CallTerms.Need {
    switch self {
    // Unlocks, locks and what they need; and the settings, which decide if the log is required.
    case .getInfo, .getInterfaceDescription, .status, .unlock, .respond, .lock, .attend, .confirm, .dismiss, .reload:
      .nothing
    // Calls that find out what is left of a failed store, and save it.
    case .audit, .verify, .salvage, .backup, .repairAudit: .logUnlessFailed
    case .`init`, .restore, .authenticate, .get, .code, .sign, .mac, .issueToken, .verifyToken, .revokeToken, .set,
      .setMany, .deposit, .sealDeposit, .depositSealed, .publicKey, .deposits, .settleDeposit, .generate, .copy, .show,
      .find, .children, .attributes, .delete, .undelete, .emptyTrash, .restoreVersion, .move, .history, .listSlots,
      .changePassword, .markStale, .addSlot, .removeSlot, .rekey, .repairClock, .grant, .revoke, .grants, .can, .rights,
      .whoMay,
      .confirmGrants, .forgetSubject, .requests, .approve, .deny, .refuse, .forgetDenial, .monitor, .receipt,
      .importCollection, .importItems, .export, .beginImport, .secretService, .joinBus:
      .log
    }
  }

  private var entry: CallTerms.Entry {
    switch self {
    case .getInfo, .getInterfaceDescription, .status: .none
    // A lock of a locked vault changes nothing, and an answer (Respond) is a part of the call that asked the question.
    case .respond, .lock: .ofRefusals
    case .get: .withValue
    case .`init`, .unlock, .authenticate, .changePassword, .addSlot, .removeSlot, .rekey, .restore, .joinBus: .last
    case .attend, .confirm, .dismiss, .refuse, .code, .sign, .mac, .issueToken, .verifyToken, .revokeToken, .set,
      .setMany,
      .deposit, .sealDeposit, .depositSealed, .publicKey, .deposits, .settleDeposit, .generate, .copy, .show, .find,
      .children, .attributes, .delete, .undelete, .emptyTrash, .restoreVersion, .move, .history, .listSlots, .markStale,
      .grant, .revoke, .audit, .grants, .can, .rights, .whoMay, .confirmGrants, .forgetSubject, .requests, .approve,
      .deny,
      .forgetDenial, .verify, .monitor, .receipt, .backup, .salvage, .repairAudit, .repairClock, .reload,
      .importCollection, .importItems, .export, .beginImport, .secretService:
      .first
    }
  }

  /// The content of the method's replies that a lock must wipe before the client reads it. Content that comes from a
  /// value is treated as content that every lock wipes, unless the reply names the value's class.
  var content: ReplyContent {
    switch self {
    case .get, .code, .sign, .mac, .issueToken, .generate: .whenUnlocked
    // These replies reveal no more of a value than its public key, or the token that the caller already has.
    case .publicKey, .verifyToken: []
    case .getInfo, .getInterfaceDescription, .status, .unlock, .respond, .lock, .attend, .confirm, .dismiss, .audit,
      .verify, .salvage, .backup, .repairAudit, .`init`, .restore, .authenticate, .revokeToken, .set, .setMany,
      .deposit, .sealDeposit, .depositSealed, .deposits, .settleDeposit, .copy, .show, .find, .children, .attributes,
      .delete, .undelete, .emptyTrash, .restoreVersion, .move, .history, .listSlots, .changePassword, .markStale,
      .addSlot, .removeSlot, .rekey, .repairClock, .grant, .revoke, .grants, .can, .rights, .whoMay, .confirmGrants,
      .forgetSubject, .requests, .approve, .deny, .refuse, .forgetDenial, .monitor, .receipt, .reload,
      .importCollection, .importItems, .export, .beginImport, .secretService, .joinBus:
      []
    }
  }
}
