import Foundation
import Glibc
import VaultBytes
import VaultCore
import VaultModel
import VaultTesting
import VaultWire

extension KeyStage {
  /// A vault's surroundings: its kind of machine, and its keystores.
  struct Place: Sendable {
    /// True if the machine can sleep unannounced.
    var sleeps = false
    /// The keystore of the slot that presence opens.
    var keystore: String?
    /// The PAM service.
    var pam = PAM.yes
    /// The place of the boot key, `tpm2` or `credential`; nil for the usual file.
    var boot: String?
    /// True if the store is on a file system of its own, of 32 MiB.
    var isSmall = false

    enum PAM: String {
      case yes = "auth required pam_permit.so\naccount required pam_permit.so\n"
      case no = "auth required pam_deny.so\naccount required pam_permit.so\n"
      /// A PAM service that asks for the login password.
      case asks = "auth required pam_unix.so nodelay\naccount required pam_unix.so\n"
    }

    static let sleeps = Place(sleeps: true)
    static let smallDisk = Place(isSmall: true)
    static func keystore(_ name: String, _ pam: PAM = .yes, sleeps: Bool = false) -> Place {
      Place(sleeps: sleeps, keystore: name, pam: pam)
    }
    static func boot(_ name: String) -> Place { Place(boot: name) }
  }

  /// The parts of a place, made for one vault.
  final class Surroundings {
    private(set) var settings = ""
    private(set) var environment: [String: String?] = [:]
    private(set) var chip: SoftwareTPM?
    private(set) var keyring: OtherKeyring?
    private var service: PAMService?
    private let sandbox: Sandbox
    private let boot: String?

    init(of place: Place, in sandbox: Sandbox) throws {
      self.sandbox = sandbox
      boot = place.boot
      if place.isSmall {
        let mounted = try sandbox.run(
          "-t", "tmpfs", "-o", "size=32m,mode=0700", "vault-test", sandbox.root + "/data", program: "/usr/bin/mount")
        guard mounted.status == 0 else { throw SandboxError("\(mounted)") }
      }
      if place.sleeps { try MachineClock(in: sandbox) }
      if [place.keystore, place.boot].contains("tpm2") {
        let chip = try SoftwareTPM(in: sandbox)
        self.chip = chip
        settings += "tpm2-device = \(chip.device)\n"
      }
      if place.keystore == "keyring" {
        keyring = try OtherKeyring(in: sandbox, on: try PrivateBus(.session, in: sandbox))
      }
      if place.keystore != nil {
        let service = try PAMService(place.pam.rawValue)
        self.service = service
        settings += "pam-service = \(service.name)\n"
      }
      switch boot {
      case "tpm2": settings += "boot-key = tpm2:\(sealedBootKey)\n"
      case "credential":
        try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: false)
        try Data(RandomBytes.array(count: 32)).write(to: URL(fileURLWithPath: credentials + "/boot"))
        unsafe chmod(credentials + "/boot", 0o600)
        settings += "boot-key = credential:boot\n"
        environment["CREDENTIALS_DIRECTORY"] = credentials
      default: break
      }
    }

    deinit { service?.remove() }

    private var credentials: String { sandbox.root + "/credentials" }
    private var sealedBootKey: String { sandbox.home + "/boot.sealed" }

    /// Returns the secrets that open the vault, with the keys that its keystores hold.
    func secrets(password: String, recovery: String, login: String) -> KeyHierarchy.Secrets {
      KeyHierarchy.Secrets(
        password: password, recovery: recovery, login: login,
        keystore: { [self] slot, vault in try presenceKey(of: slot, vault) },
        boot: { [self] vault in try bootKey(vault) })
    }

    private func presenceKey(of slot: SlotRecord, _ vault: [UInt8]) throws -> [UInt8]? {
      guard let terms = slot.terms, let kind = KeystoreKind(rawValue: terms.keystore) else { return nil }
      switch kind {
      // The key of a `memory` slot is derived from the vault key.
      case .memory: return nil
      case .file:
        let name = terms.locator.map { String(format: "%02x", $0) }.joined()
        return FileManager.default.contents(atPath: "\(sandbox.store)/presence-\(name).key").map { [UInt8]($0) }
      case .tpm2, .keyring: return try fetch(terms.locator, from: kind, vault)
      }
    }

    private func bootKey(_ vault: [UInt8]) throws -> [UInt8]? {
      switch boot {
      case "tpm2":
        let sealed = FileManager.default.contents(atPath: sealedBootKey).map { [UInt8]($0) } ?? []
        return try fetch(sealed, from: .tpm2, vault)
      case "credential": return FileManager.default.contents(atPath: credentials + "/boot").map { [UInt8]($0) }
      default: return nil
      }
    }

    private func fetch(_ locator: [UInt8], from kind: KeystoreKind, _ vault: [UInt8]) throws -> [UInt8] {
      let keystores = try KeystoreStand(sandbox, chip.map { "tpm2-device = \($0.device)" } ?? "")
      do { return try keystores.fetch(locator, from: kind, vault: vault) } catch let error as KeystoreError {
        guard let chip, error.reason.contains("busy") else { throw error }
        // A helper that was ended during its work left objects in the TPM; no resource manager flushes them.
        try chip.run("tpm2_flushcontext", "-t")
        return try keystores.fetch(locator, from: kind, vault: vault)
      }
    }
  }
}
