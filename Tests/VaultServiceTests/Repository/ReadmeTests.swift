import Foundation
import Testing
import VaultTesting

@Suite("README") struct ReadmeTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
  }

  @Test("it names the version that `vault` prints") func version() throws {
    let source = try text("Sources/VaultProcess/ProgramVersion.swift")
    let version = try #require(source.firstMatch(of: /static let text = "([^"]+)"/)).output.1
    #expect(try text("README.md").contains("version \(version), as `vault --version` prints it"))
  }

  @Test("every file and every section that it links to is there") func links() throws {
    let readme = try text("README.md")
    let targets = readme.matches(of: /\]\(([^)]+)\)/).map { String($0.output.1) }.filter { !$0.hasPrefix("https://") }
    #expect(targets.count > 20)
    let sections = readme.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { heading in
      "#" + heading.dropFirst(3).lowercased().replacing(/[^a-z ]/, with: "").replacing(" ", with: "-")
    }
    for target in targets {
      let isThere = FileManager.default.fileExists(atPath: Repository.root.appending(path: target).path)
      #expect(target.hasPrefix("#") ? sections.contains(target) : isThere, "\(target)")
    }
  }

  @Test("a reader comes to the installation within 130 lines") func length() throws {
    let lines = try text("README.md").split(separator: "\n", omittingEmptySubsequences: false)
    let installation = try #require(lines.firstIndex(of: "## Install"))
    #expect(installation <= 130)
  }
}
