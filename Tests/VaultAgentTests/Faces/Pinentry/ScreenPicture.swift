/// The screen that a person sees on a terminal after a program wrote to it. It understands enough of xterm's language
/// for ncurses (ctlseqs).
struct ScreenPicture {
  private var cells: [[Character]]
  private var row = 0
  private var column = 0

  init(of text: String, rows: Int = 24, columns: Int = 100) {
    cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    var rest = Array(text.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\r": column = 0
      case "\n": row = min(row + 1, rows - 1)
      case "\u{8}": column = max(0, column - 1)
      case "\u{1B}": escape(&rest)
      case _ where scalar.value < 0x20: break
      default: put(Character(scalar))
      }
    }
  }

  /// The lines of the screen, without trailing blanks.
  var lines: [String] {
    cells.map { String($0.reversed().drop { $0 == " " }.reversed()) }
  }

  /// The lines of the text inside a frame, in order.
  var framed: [String] {
    lines.filter { $0.contains("x ") || $0.hasSuffix("x") }
      .map { $0.drop { $0 != "x" }.dropFirst(2).dropLast().description }
      .map { String($0.reversed().drop { $0 == " " }.reversed()) }
  }

  private mutating func put(_ character: Character) {
    if cells.indices.contains(row), cells[row].indices.contains(column) { cells[row][column] = character }
    column += 1
  }

  private mutating func escape(_ rest: inout ArraySlice<Unicode.Scalar>) {
    guard let kind = rest.popFirst() else { return }
    if kind == "(" { _ = rest.popFirst() }
    guard kind == "[" else { return }
    var text = ""
    while let scalar = rest.popFirst() {
      if (0x40...0x7E).contains(scalar.value) { return control(scalar, text) }
      text.unicodeScalars.append(scalar)
    }
  }

  private mutating func control(_ final: Unicode.Scalar, _ text: String) {
    let numbers = text.split(separator: ";").compactMap { Int($0) }
    let first = numbers.first ?? 1
    switch final {
    case "H": (row, column) = (first - 1, (numbers.count > 1 ? numbers[1] : 1) - 1)
    case "A": row -= first
    case "B": row += first
    case "C": column += first
    case "D": column -= first
    case "G": column = first - 1
    case "d": row = first - 1
    case "J": for row in cells.indices { cells[row] = cells[row].map { _ in " " } }
    case "K":
      if cells.indices.contains(row) { for index in max(0, column)..<cells[row].count { cells[row][index] = " " } }
    case "X":
      for index in 0..<first where cells[row].indices.contains(column + index) { cells[row][column + index] = " " }
    case "b":
      guard cells.indices.contains(row), cells[row].indices.contains(column - 1) else { return }
      let last = cells[row][column - 1]
      for _ in 0..<first { put(last) }
    default: break
    }
  }
}
