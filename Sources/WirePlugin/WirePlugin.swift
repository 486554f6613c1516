import PackagePlugin

/// The plugin that makes the build run ``WireGenerator`` when an interface's definition has changed.
@main struct WirePlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let definitions = ["io.vaultd.Vault", "org.varlink.service"].map {
      target.directoryURL.appending(path: "\($0).varlink")
    }
    let folder = context.pluginWorkDirectoryURL
    let outputs = ["Faults", "Interfaces", "WireMethods", "WireTypes"].map { folder.appending(path: "\($0).swift") }
    return [
      .buildCommand(
        displayName: "Generate the wire's types", executable: try context.tool(named: "WireGenerator").url,
        arguments: [folder.path()] + definitions.map { $0.path() }, inputFiles: definitions, outputFiles: outputs)
    ]
  }
}
