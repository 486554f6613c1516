internal import VaultModel

/// Columns of text, for a person's terminal.
struct Table {
  /// The content of one place: text from anywhere, every character of which is shown as text, and how it looks, which
  /// is no part of the text.
  struct Cell {
    let text: String
    let isRed: Bool

    init(_ text: String, isRed: Bool = false) {
      self.text = Printable.line(text)
      self.isRed = isRed
    }
  }

  private let heading: [String]
  private var rows: [[Cell]] = []
  private var widths: [Int]
  private var isBegun = false

  init(_ heading: String...) {
    self.heading = heading
    widths = heading.map(\.count)
  }

  /// The number of rows that ``text(withHeading:)`` would give now.
  var count: Int { rows.count }

  mutating func add(_ cells: Cell...) {
    rows.append(cells)
    for (column, cell) in cells.enumerated() { widths[column] = max(widths[column], cell.text.count) }
  }

  /// The rows added since the last call, each line ended, columns as wide as their widest cell so far. The heading stands
  /// before the first rows; for other programs there is none.
  mutating func text(withHeading: Bool = true) -> String {
    var text = withHeading && !isBegun ? Style.bold(line(heading.map { Cell($0) })) + "\n" : ""
    for row in rows { text += line(row) + "\n" }
    rows.removeAll(keepingCapacity: true)
    isBegun = true
    return text
  }

  /// One line, without blanks behind its last cell.
  private func line(_ cells: [Cell]) -> String {
    let last = cells.lastIndex { !$0.text.isEmpty } ?? 0
    return cells.indices.prefix(through: last).reduce(into: "") { line, column in
      let cell = cells[column]
      line += cell.isRed ? Style.red(cell.text) : cell.text
      if column < last { line += String(repeating: " ", count: widths[column] - cell.text.count + 2) }
    }
  }
}
