internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct SecretServiceStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Print whether desktop programs find this vault, and what is missing for that.",
    discussion: """
      Never starts a daemon. The exit code is 65 if the settings turn the Secret Service on and programs do not find \
      it, which the lines `missing` describe.
      """)

  @OptionGroup var globals: Globals

  func run() throws {
    if globals.system { throw SecretService.systemHasNone }
    let session = try Session(globals, startsDaemon: false)
    let (standing, agents) = try session.call { vault in
      do {
        let standing = try vault.secretService()
        return (standing, try vault.status().agents ?? [])
      } catch let error as ClientError {
        throw StatusCommand.absent(session, error) ?? error
      }
    }
    let report = SecretServiceReport(standing, agents: agents.count, session.isOwn ? DesktopFiles() : nil)
    if globals.json { try report.printJSON() } else { try Output.lines(report.lines) }
    if standing.on, standing.owner?.own != true { throw ExitCode(Exit.invalid.rawValue) }
  }
}

/// The account of `vault secret-service status`.
struct SecretServiceReport {
  private let standing: Wire.SecretServiceReply
  private let agents: Int
  /// Nil for a vault whose user's files are not known here.
  private let files: DesktopFiles?

  init(_ standing: Wire.SecretServiceReply, agents: Int, _ files: DesktopFiles?) {
    (self.standing, self.agents, self.files) = (standing, agents, files)
  }

  private var activation: String? { files.flatMap { $0.isActivationOurs ? $0.activation : nil } }

  var lines: [String] {
    var lines = [Self.row("door", standing.on ? Style.green("on") : "off")]
    lines.append(Self.row("name", "\(Printable.text(standing.name)): \(owner)"))
    let bus = standing.bus.map { Printable.text($0) }
    lines.append(Self.row("bus", (bus ?? "none is known") + (bus == nil || standing.connected ? "" : ", not there")))
    lines.append(Self.row("activation", activation.map { Printable.text($0) } ?? "none for this vault"))
    lines.append(Self.row("agents", agents == 0 ? "none" : "\(agents)"))
    for collection in standing.collections { lines.append(Self.row("collection", Self.text(collection))) }
    if standing.prompts > 0 {
      let text = standing.prompts == 1 ? "1 program waits" : "\(standing.prompts) prompts of programs wait"
      lines.append(Self.row("prompts", "\(text); see \(Hint.vault("requests"))"))
    }
    return lines + missing.map { Self.row("missing", Style.yellow($0)) }
  }

  private var owner: String {
    guard let owner = standing.owner else {
      guard standing.connected else { return "unknown without a bus" }
      return standing.activatable == nil ? "unknown, because the bus does not answer" : "nobody owns it"
    }
    return owner.own ? "this vault's daemon, process \(owner.pid)" : "\(SecretService.text(owner)), not this vault"
  }

  private static func text(_ collection: Wire.KeyringCollection) -> String {
    let label = collection.label.map { Printable.line($0) }
    let name = label.map { $0 == collection.id ? $0 : "\($0) (\(Printable.text(collection.id)))" }
    let items = collection.items.map { ", \(Counted.text($0, "item"))" } ?? ""
    return (name ?? Printable.text(collection.id)) + items + (collection.isDefault ? ", the default" : "")
  }

  /// The reasons why programs do not find their keys here, or why nobody is asked about them.
  private var missing: [String] {
    guard standing.on else {
      return [Sentence.joined("secret-service is off", "\(Hint.vault("secret-service enable")) turns it on")]
    }
    var missing: [String] = []
    if let problem = standing.problem { missing.append(Hint.text(Sentence.joined(problem, standing.advice))) }
    if files != nil, activation == nil {
      missing.append(
        "the bus does not start the daemon when a program asks for it; "
          + "\(Hint.vault("secret-service enable")) has it do so")
    }
    if agents == 0 {
      missing.append("no agent attends, so nobody is asked when a program finds the vault locked; see vault-agent(8)")
    }
    return missing
  }

  func printJSON() throws(Failure) {
    try Output.json { object in
      object.add("on", standing.on)
      object.add("name", standing.name)
      object.add("bus", standing.bus)
      object.add("connected", standing.connected)
      if let owner = standing.owner {
        object.add("owner") { member in
          member.add("pid", owner.pid)
          member.add("program", owner.program)
          member.add("own", owner.own)
        }
      }
      object.add("activation", activation)
      object.add("agents", agents)
      object.add("default", standing.collections.first { $0.isDefault }?.id)
      object.add("collections", standing.collections)
      object.add("prompts", standing.prompts)
      object.add("missing", missing)
    }
  }

  private static func row(_ name: String, _ text: String) -> String {
    name + ":" + String(repeating: " ", count: max(1, 12 - name.count)) + text
  }
}
