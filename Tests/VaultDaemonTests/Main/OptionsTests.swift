import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("vaultd's command line") struct OptionsTests {
  @Test("options are taken with a space or an equals sign") func taken() {
    let expected = Options(system: true, store: "/s", socket: "/r/s", config: "/c", readyDescriptor: 3)
    #expect(
      Options.parse(["--system", "--store", "/s", "--socket=/r/s", "--config", "/c", "--ready-fd=3"]) == .run(expected))
  }

  @Test(
    "a command line that makes no sense is a usage error",
    arguments: [
      ["--stroe", "/s"], ["--store"], ["--store="], ["--system=yes"], ["--check-settings=1"],
      ["--activated=1"], ["--activated", "--system"],
      ["--ready-fd", "2"], ["--ready-fd", "x"],
      ["serve"],
    ])
  func refused(_ arguments: [String]) {
    guard case .usage = Options.parse(arguments) else {
      Issue.record("\(arguments) was accepted")
      return
    }
  }

  @Test("the paths follow XDG, and the options go before") func paths() throws {
    let environment = ["HOME": "/h", "XDG_RUNTIME_DIR": "/run/user/1", "XDG_DATA_HOME": "relative"]
    let paths = try Paths(options: Options(), environment: { environment[$0] })
    #expect(paths.store == "/h/.local/share/vault")
    #expect(paths.socket == "/run/user/1/vault/socket")
    #expect(paths.runtime == "/run/user/1/vault")
    #expect(paths.config == "/h/.config/vault/vaultd.conf")
    let named = try Paths(
      options: Options(store: "/s/", socket: "/r/x", config: "/c"), environment: { _ in nil })
    #expect(named.store == "/s")
    #expect(named.runtime == "/r")
    #expect(named.presenceSocket == "/r/pam.socket")
    #expect(named.configIsExplicit)
  }

  @Test("without XDG_RUNTIME_DIR there is no guess") func noRuntimeDirectory() {
    #expect(throws: Paths.Missing.self) { try Paths(options: Options(), environment: { $0 == "HOME" ? "/h" : nil }) }
  }

  @Test("the settings are found without XDG_RUNTIME_DIR, because their check makes no socket")
  func settingsAlone() throws {
    let options = Options(checksSettings: true)
    let paths = try Paths(options: options, environment: { $0 == "HOME" ? "/h" : nil })
    #expect(paths.config == "/h/.config/vault/vaultd.conf")
  }

  @Test("the system's vault is where the system keeps such things") func systemPaths() throws {
    let paths = try Paths(options: Options(system: true), environment: { _ in nil })
    #expect(paths.presenceSocket == "/run/vault-pam/socket" && !paths.presenceSocket.hasPrefix(paths.runtime + "/"))
    #expect(paths.store == "/var/lib/vault")
    #expect(paths.socket == "/run/vault/socket")
    #expect(paths.config == "/etc/vault/vaultd.conf")
  }

  @Test(
    "a relative path is refused",
    arguments: [
      Options(store: "s", socket: "/r/s"), Options(store: "/s", socket: "s"),
      Options(store: "/s", socket: "/r/s", config: "c"),
    ])
  func relative(_ options: Options) {
    #expect(throws: Paths.Missing.self) { try Paths(options: options, environment: { _ in "/x" }) }
  }
}
