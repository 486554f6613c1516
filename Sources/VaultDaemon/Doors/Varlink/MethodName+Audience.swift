internal import VaultService
internal import VaultWire

extension MethodName {
  /// The callers that may call a method at all. Its effect on an item is decided for that item.
  enum Audience {
    case anybody
    /// Callers that may open and lock the vault.
    case openers
    /// Callers that may lock the vault.
    case lockers
    case administrators
  }

  var audience: Audience {
    switch self {
    case .getInfo, .getInterfaceDescription, .status, .respond, .generate, .get, .code, .set, .setMany, .copy, .show,
      .find,
      .children, .attributes, .delete, .undelete, .restoreVersion, .move, .history, .monitor, .audit, .grants, .can,
      .authenticate, .deposit, .sealDeposit, .depositSealed, .publicKey, .receipt,
      .sign, .mac, .issueToken, .verifyToken, .revokeToken:
      .anybody
    case .unlock, .attend, .confirm, .dismiss: .openers
    case .lock: .lockers
    case .`init`, .listSlots, .changePassword, .markStale, .addSlot, .removeSlot, .rekey, .verify, .backup, .salvage,
      .restore,
      .emptyTrash, .grant, .revoke, .rights, .whoMay, .confirmGrants, .forgetSubject, .repairClock, .deposits,
      .settleDeposit,
      .requests, .approve, .deny, .refuse, .forgetDenial, .repairAudit, .reload, .importCollection, .importItems,
      .export, .beginImport, .secretService, .joinBus:
      .administrators
    }
  }
}

extension Access {
  /// - Throws: the refusal of a caller that may not call such a method at all.
  func check(_ audience: MethodName.Audience, _ caller: VaultService.Caller) throws(Refusal) {
    switch audience {
    case .anybody: return
    case .openers: try checkOpener(caller)
    case .lockers: try checkLocker(caller)
    case .administrators: try checkAdministrator(caller)
    }
  }
}
