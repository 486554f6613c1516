package import VaultModel

/// What a caller may do to the item of one name, whether there is one or not: for each class that the item can be of.
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

  /// The permit of who has these rights, of whatever class the item is.
  init(_ rights: Rights) {
    self.init(isUndecided: false)
    (whenUnlocked, afterFirstUnlock, always) = (rights, rights, rights)
  }

  /// The rights where the item is of that class.
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

  /// The rights that it has where the item is of some class.
  package var anywhere: Rights {
    isAdministrator ? .all : whenUnlocked.union(afterFirstUnlock).union(always)
  }

  /// True when the item may be such that the caller has the right.
  package func mayHave(_ right: Right) -> Bool { isAdministrator || anywhere.contains(right) }

  /// True when the caller has the right, of an item of that class; where there is no item, of one that it could be.
  package func has(_ right: Right, _ accessible: AccessClass?) -> Bool {
    isAdministrator || (accessible.map { self[$0] } ?? anywhere).contains(right)
  }
}
