package import VaultModel

/// The caller's rights on the item of one name, whether or not there is such an item, for each class that the item can
/// have.
package struct Permit {
  /// True for an administrator, who may do everything to every item.
  package let isAdministrator: Bool
  private var whenUnlocked: Rights = []
  private var afterFirstUnlock: Rights = []
  private var always: Rights = []
  /// True when there may be grants that nobody can read now.
  package let isUndecided: Bool

  static let administrator = Permit(isAdministrator: true, isUndecided: false)

  init(isAdministrator: Bool = false, isUndecided: Bool) {
    self.isAdministrator = isAdministrator
    self.isUndecided = isUndecided
  }

  /// A permit for these rights, for items of every class.
  init(_ rights: Rights) {
    self.init(isUndecided: false)
    (whenUnlocked, afterFirstUnlock, always) = (rights, rights, rights)
  }

  /// The rights if the item is of that class.
  package subscript(accessible: AccessClass) -> Rights {
    get {
      if isAdministrator { return .all }
      return switch accessible {
      case .whenUnlocked: whenUnlocked
      case .afterFirstUnlock: afterFirstUnlock
      case .always: always
      }
    }
    set {
      switch accessible {
      case .whenUnlocked: whenUnlocked = newValue
      case .afterFirstUnlock: afterFirstUnlock = newValue
      case .always: always = newValue
      }
    }
  }

  /// The rights that the caller has in at least one class.
  package var anywhere: Rights {
    isAdministrator ? .all : whenUnlocked.union(afterFirstUnlock).union(always)
  }

  /// True when the caller may know whether there is an item of that class. The right `deposit` alone does not tell.
  package func tells(_ accessible: AccessClass) -> Bool { !self[accessible].subtracting(Rights(.deposit)).isEmpty }

  /// True when the caller may know whether there is an item of at least one class.
  package var tellsOfAny: Bool { AccessClass.allCases.contains(where: tells) }

  /// True when the caller may know whether there is an item at all, of whatever class.
  package var tellsOfAll: Bool { AccessClass.allCases.allSatisfy(tells) }

  /// True when there is a class of items in which the caller has the right.
  package func mayHave(_ right: Right) -> Bool { isAdministrator || anywhere.contains(right) }

  /// True when the caller has the right on an item of that class; if there is no item, on an item of some class.
  package func has(_ right: Right, _ accessible: AccessClass?) -> Bool {
    isAdministrator || (accessible.map { self[$0] } ?? anywhere).contains(right)
  }
}
