internal import VaultWire

extension MethodName {
  /// The part of a user's share of the loop that a call is charged to.
  enum Cost {
    /// A cost about that of reading one item. The call is handled in the line of the user's answers.
    case answer
    /// A higher cost: the call writes, walks over many records, or computes with a private key. It waits for the user's
    /// turn in the line of works.
    case work
  }

  /// The cost of a call. Work that continues later, beside the loop or in separate turns, does not count.
  var cost: Cost {
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
      .secretService, .joinBus:
      .work
    case .code, .sign, .mac, .issueToken, .verifyToken, .revokeToken, .publicKey:
      .work
    }
  }
}
