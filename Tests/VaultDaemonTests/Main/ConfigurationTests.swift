import Foundation
import Logging
import Testing
import VaultModel
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("vaultd.conf") struct ConfigurationTests {
  @Test("an empty file gives the defaults") func defaults() throws {
    let settings = try Configuration(parsing: "\n# nothing\n   \n")
    #expect(settings == Configuration())
    #expect(settings.vault.idle == 300)
    #expect(settings.vault.maximumAge == 43200)
  }

  @Test("what the example has commented out is read, and is the default") func example() throws {
    let example = Repository.root.appending(path: "Sources/vaultd/vaultd.conf")
    let settings = try String(contentsOf: example, encoding: .utf8).split(separator: "\n").compactMap { line in
      line.wholeMatch(of: /#([a-z0-9-]+ = .*)/).map { String($0.1) }
    }
    #expect(settings.count == 20, "\(settings)")
    #expect(settings.map { String($0.prefix { $0 != " " }) }.sorted() == Configuration.keys.sorted())
    var read = try Configuration(parsing: settings.joined(separator: "\n"))
    // These two settings have no common default, or a different form.
    #expect(read.vault.bootKey == .file("/etc/vault/boot.key"))
    #expect(read.keyringBusName == "org.freedesktop.secrets")
    (read.vault.bootKey, read.keyringBusName) = (nil, nil)
    #expect(read == Configuration())
  }

  @Test("every key is read") func everyKey() throws {
    let settings = try Configuration(
      parsing: """
        idle = 90s
        maximum-age=off
        hide-names = true
        keep-across-sleep = true
        boot-key = /etc/vault/boot.key
        tpm2-device = swtpm:path=/run/tpm
        keyring-bus-name = org.example.Keys-2
        max-connections = 8
        max-requests-per-second = 50
        log-level = debug
        """)
    #expect(settings.vault.idle == 90)
    #expect(settings.vault.maximumAge == nil)
    #expect(settings.vault.hideNames)
    #expect(settings.vault.keepAcrossSleep)
    #expect(settings.vault.bootKey == .file("/etc/vault/boot.key"))
    #expect(settings.tpm2Device == "swtpm:path=/run/tpm")
    #expect(settings.keyringBusName == "org.example.Keys-2")
    #expect(settings.maxConnections == 8)
    #expect(settings.maxRequestsPerSecond == 50)
    #expect(settings.logLevel == .debug)
  }

  @Test("a number alone is seconds, as it always was") func bareSeconds() throws {
    let settings = try Configuration(
      parsing: "idle = 300\nmaximum-age = 43200\ntrash = 2592000\naudit-age = 3600\n")
    #expect(settings.vault.idle == 300)
    #expect(settings.vault.maximumAge == 43200)
    #expect(settings.vault.trash == 2_592_000)
    #expect(settings.vault.audit.age == 3600)
    #expect(try Configuration(parsing: "trash = 3600").vault.trash == 3600)
  }

  @Test("the Secret Service shares items by patterns, not with hidden names, and not for the machine's vault")
  func secretService() throws {
    let settings = try Configuration(
      parsing: """
        secret-service = on
        secret-service-accessible = when-unlocked
        secret-service-share = iot/* a/b
        secret-service-patience = 10m chrome=off secret-tool=5s
        """)
    #expect(try settings.vault.keyring.limits == PromptLimits(parsing: "10m chrome=off secret-tool=5s"))
    #expect(settings.secretService && settings.vault.keyring.accessible == .whenUnlocked)
    #expect(settings.vault.keyring.shares.map(\.text) == ["iot/*", "a/b"])
    for (text, line) in [
      ("hide-names = true\nsecret-service-share = a", 2), ("secret-service-share = a\nhide-names = true", 2),
      ("secret-service-share = /a", 1), ("secret-service = yes", 1), ("secret-service-accessible = never", 1),
      ("secret-service-patience = soon", 1), ("secret-service-patience = =2m", 1),
      ("secret-service-patience = a/b=2m", 1), ("secret-service-patience = a=0s", 1),
    ] {
      #expect { try Configuration(parsing: text) } throws: { ($0 as? Configuration.Problem)?.line == line }
    }
    #expect(throws: Configuration.Problem.self) { try Configuration(parsing: "secret-service = on", isSystem: true) }
    _ = try Configuration(parsing: "secret-service = off", isSystem: true)
  }

  @Test("the boot key has three forms") func bootKeys() {
    #expect(BootKey(setting: "/a/b") == .file("/a/b"))
    #expect(BootKey(setting: "tpm2:/a/b") == .tpm2("/a/b"))
    #expect(BootKey(setting: "credential:boot.key") == .credential("boot.key"))
    for text in ["", "a", "tpm2:", "tpm2:a", "credential:", "credential:..", "credential:a/b", "file:/a"] {
      #expect(BootKey(setting: text) == nil, "\(text)")
    }
    for text in ["/a/b", "tpm2:/a/b", "credential:boot.key"] { #expect(BootKey(setting: text)?.place == text) }
  }

  @Test("a TPM is a device or a simulated one; no command is run and no library loaded for it") func devices() {
    for device in [
      "device:/dev/tpmrm0", "device:/dev/tpm1", "swtpm:path=/run/tpm", "swtpm:host=localhost,port=2321", "swtpm:port=1",
    ] {
      #expect((try? Configuration(parsing: "tpm2-device = \(device)"))?.tpm2Device == device)
    }
    let reason = "tpm2-device is device: and an absolute path, or swtpm: and path=, host= or port="
    for device in [
      "cmd:sh -c 'touch /tmp/x'", "cmd:", "/tmp/evil.so", "/tmp/evil.so:", "libevil:x", "tabrmd:", "tcti-cmd:x",
      "pcap:cmd:x",
      "mssim:host=localhost", "device", "device:", "device:dev/tpm0", "device:/dev/tpm0,cmd:x", "swtpm", "swtpm:",
      "swtpm:path=x",
      "swtpm:host=a b", "swtpm:port=65536", "swtpm:path=/a,cmd=x", "SWTPM:path=/a", ":", "",
    ] {
      #expect(throws: Configuration.Problem(line: 1, reason: reason), "\(device)") {
        try Configuration(parsing: "tpm2-device = \(device)")
      }
    }
  }

  @Test(
    "a line that cannot be followed is named",
    arguments: [
      ("idle = 5m\nidel = 5m", 2, "unknown setting `idel`; did you mean `idle`?"),
      ("colour = red", 1, "unknown setting `colour`"), ("idle", 1, "expected `key = value`"),
      ("\n\nidle = soon", 3, "idle is a time without blanks, such as 90s, 5m or 12h, or off"),
      ("idle = 5m\nidle = 6m", 2, "idle is set twice"), ("hide-names = yes", 1, "hide-names is true or false"),
      ("keep-across-sleep = ", 1, "keep-across-sleep is true or false"),
      ("boot-key = key", 1, "boot-key is an absolute path, tpm2: and an absolute path, or credential: and a name"),
      (
        "pam-service = vault-\(String(repeating: "a", count: 50))", 1,
        "pam-service is `vault` or begins with `vault-`, in at most 55 lower case letters, digits and dashes"
      ),
      ("keyring-bus-name = :1.2", 1, "keyring-bus-name is a bus name such as org.freedesktop.secrets"),
      ("keyring-bus-name = secrets", 1, "keyring-bus-name is a bus name such as org.freedesktop.secrets"),
      ("max-connections = 0", 1, "max-connections is from 4 to 32768"),
      ("max-requests-per-second = -1", 1, "max-requests-per-second is from 10 to 10000000"),
      ("trash = 30", 1, "trash: 30 is seconds; give it a unit, as in 30d, or write 30s if you mean so short a time"),
      (
        "audit-age = 3599", 1,
        "audit-age: 3599 is seconds; give it a unit, as in 30d, or write 3599s if you mean so short a time"
      ),
      ("idle = 0s", 1, "idle is a second or more, or off"),
      ("idle = 5m\r\nmaximum-age = x\r\n", 2, "maximum-age is a time without blanks, such as 90s, 5m or 12h, or off"),
    ])
  func problems(_ text: String, _ line: Int, _ reason: String) {
    #expect(throws: Configuration.Problem(line: line, reason: reason)) { try Configuration(parsing: text) }
  }
}
