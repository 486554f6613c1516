internal import VaultWire

extension MethodName {
  /// The cost of a call.
  var cost: CallCost {
    switch self {
    case .getInfo, .status, .get, .show, .history, .can, .generate, .receipt, .listSlots, .requests, .monitor:
      .answer
    // A person waits for these calls, and each only begins the work that follows, or ends it.
    case .`init`, .unlock, .authenticate, .attend, .confirm, .dismiss, .refuse, .respond, .lock, .changePassword,
      .addSlot,
      .removeSlot, .restore, .verify:
      .answer
    case .find, .children, .attributes, .audit, .grants, .rights, .whoMay, .deposits, .getInterfaceDescription, .set,
      .setMany,
      .copy, .delete, .undelete, .emptyTrash, .restoreVersion, .move, .deposit, .sealDeposit, .depositSealed,
      .settleDeposit, .grant, .revoke, .confirmGrants, .forgetSubject, .approve, .deny, .forgetDenial, .markStale,
      .rekey, .backup, .salvage, .repairAudit, .repairClock, .reload, .importCollection, .importItems, .export,
      .beginImport, .secretService, .joinBus:
      .work
    case .code, .sign, .mac, .issueToken, .verifyToken, .revokeToken, .publicKey:
      .work
    }
  }
}
