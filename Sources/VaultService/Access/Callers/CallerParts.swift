internal import VaultModel

/// The parts of subjects that hold for a caller.
struct CallerParts {
  /// Tells whether a part holds for the caller.
  let holds: (Subject.Part) -> Bool
  /// Tells whether a part holds, or held before the file that the process runs was replaced. A replaced file does not
  /// free a program from its confinement.
  private let held: (Subject.Part) -> Bool
  /// Tells whether a part holds, or held, or may hold: a program whose digest is not known is not free of a confinement
  /// by a digest.
  private let mayHold: (Subject.Part) -> Bool
  /// All parts that can hold and by which a grant can be found.
  let keys: [Subject.Part]

  func isAll(of subject: Subject) -> Bool { subject.parts.allSatisfy(holds) }

  func wasAll(of subject: Subject) -> Bool { subject.parts.allSatisfy(held) }

  func mayBeAll(of subject: Subject) -> Bool { subject.parts.allSatisfy(mayHold) }

  /// The parts that hold for a process now.
  init(_ caller: Caller, isSystem: Bool) {
    let unit = caller.grantedUnit(isSystem: isSystem)
    keys = [.user(caller.uid)] + caller.groups.map { .group($0) } + (unit.map { [.unit($0)] } ?? [])
    let holds = { (part: Subject.Part) -> Bool in
      switch part {
      case .user(let uid): caller.uid == uid
      case .group(let gid): caller.groups.contains(gid)
      case .unit(let name): unit == name
      // Nobody can tell which files other users' processes run. So in the machine's vault no grant names a program.
      case .executable(let path): !isSystem && caller.memory.executable() == path
      case .digest(let digest): !isSystem && caller.memory.digest == .known(digest)
      }
    }
    self.holds = holds
    let held = { (part: Subject.Part) -> Bool in
      if !isSystem, case .executable(let path) = part { return caller.memory.formerExecutable() == path }
      return holds(part)
    }
    self.held = held
    mayHold = { part in
      guard !isSystem, case .digest = part else { return held(part) }
      switch caller.memory.digest {
      case .unread, .uncertain: return true
      case .known: return holds(part)
      }
    }
  }

  /// The parts that held for a process when it left a deposit.
  init(_ depositor: Depositor) {
    keys =
      [.user(depositor.uid)] + depositor.groups.map { .group($0) } + (depositor.unit.map { [.unit($0)] } ?? [])
    let groups = Set(depositor.groups)
    holds = { part in
      switch part {
      case .user(let uid): depositor.uid == uid
      case .group(let gid): groups.contains(gid)
      case .unit(let name): depositor.unit == name
      case .executable(let path): depositor.executable == path
      case .digest(let digest): depositor.digest == digest
      }
    }
    (held, mayHold) = (holds, holds)
  }

  /// The parts that hold for a process by an entry of the audit log.
  init(_ told: AuditEntry.Caller) {
    keys = [.user(told.uid)] + (told.unit.map { [.unit($0)] } ?? [])
    holds = { part in
      switch part {
      case .user(let uid): told.uid == uid
      case .unit(let name): told.unit == name
      case .executable(let path): told.executable == path
      case .group, .digest: false
      }
    }
    (held, mayHold) = (holds, holds)
  }

  /// The parts of any process that is this subject, as far as the subject determines them. Its user has these groups,
  /// and only these parts are known.
  init(_ subject: Subject, groups: [UInt32]) {
    let parts = Set(subject.parts + groups.map { .group($0) })
    keys = Array(parts)
    holds = { parts.contains($0) }
    (held, mayHold) = (holds, holds)
  }
}
