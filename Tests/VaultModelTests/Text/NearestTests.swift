import Testing
import VaultModel

@Suite("The nearest names") struct NearestTests {
  @Test(
    "a slip is a character missing, too many or wrong, or two that changed places",
    arguments: [
      ("", "", 0), ("get", "get", 0), ("gte", "get", 1), ("ge", "get", 1), ("gett", "get", 1), ("got", "get", 1),
      ("ca", "abc", 3), ("kitten", "sitting", 3), ("", "abc", 3), ("naïve", "naive", 1), ("日本", "本日", 1),
    ])
  func distance(left: String, right: String, slips: Int) {
    let (left, right) = (left.unicodeScalars, right.unicodeScalars)
    #expect(Nearest.distance(left, right, atMost: 9) == slips && Nearest.distance(right, left, atMost: 9) == slips)
    #expect(Nearest.distance(left, right, atMost: slips) == slips)
    if slips > 0 { #expect(Nearest.distance(left, right, atMost: slips - 1) == nil) }
  }

  /// The edit distance by its definition, without skipped rows or a limit.
  private func plain(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var table = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
    for row in 0...left.count {
      for column in 0...right.count {
        if row == 0 || column == 0 {
          table[row][column] = row + column
          continue
        }
        let isSame = left[row - 1] == right[column - 1]
        table[row][column] = min(
          table[row - 1][column - 1] + (isSame ? 0 : 1), table[row - 1][column] + 1, table[row][column - 1] + 1)
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          table[row][column] = min(table[row][column], table[row - 2][column - 2] + 1)
        }
      }
    }
    return table[left.count][right.count]
  }

  @Test("it agrees with the definition")
  func definition() {
    var generator = SystemRandomNumberGenerator()
    func word() -> [Unicode.Scalar] {
      (0..<Int.random(in: 0...7, using: &generator)).map { _ in
        ["a", "b", "c"][Int.random(in: 0...2, using: &generator)]
      }
    }
    for _ in 0..<2000 {
      let (left, right) = (word(), word())
      let slips = plain(left, right)
      for limit in 0...7 {
        #expect(
          Nearest.distance(left, right, atMost: limit) == (slips <= limit ? slips : nil), "\(left) \(right) \(limit)")
      }
    }
  }

  @Test("the best come, three at most, and what is far does not come")
  func best() {
    let commands = ["get", "set", "list", "show", "status", "slot", "rm", "restore", "history"]
    #expect(Nearest.names(to: "gte", among: commands) == ["get"])
    #expect(Nearest.names(to: "LIST", among: commands) == ["list"])
    #expect(Nearest.names(to: "sot", among: commands) == ["set", "slot"])
    #expect(Nearest.names(to: "frobnicate", among: commands).isEmpty)
    #expect(Nearest.names(to: "x", among: ["y", "z"]).isEmpty)
    #expect(Nearest.names(to: "aaaa", among: ["aaae", "aaab", "aaac", "aaad"]) == ["aaab", "aaac", "aaad"])
    #expect(Nearest.names(to: "aaaa", among: ["aaab", "AAAA"]) == ["AAAA"])
    #expect(Nearest.names(to: "web", among: ["wep", "wep"]) == ["wep"])
  }

  @Test("a beginning counts where that is wanted, more than what differs by a slip")
  func beginnings() {
    #expect(Nearest.names(to: "hist", among: ["history"]).isEmpty)
    #expect(Nearest.names(to: "hist", among: ["history"], beginnings: true) == ["history"])
    #expect(Nearest.names(to: "slo", among: ["slot list", "slot"], beginnings: true) == ["slot", "slot list"])
    #expect(Nearest.names(to: "hist", among: ["list", "history"], beginnings: true) == ["history"])
    #expect(Nearest.names(to: "h", among: ["history"], beginnings: true).isEmpty)
  }
}
