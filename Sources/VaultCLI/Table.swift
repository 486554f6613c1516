internal import VaultModel

/// Columns of text, for a person's terminal.
struct Table {
  private var rows: [[String]]

  init(_ heading: String...) { rows = [heading] }

  mutating func add(_ cells: String...) { rows.append(cells.map(Printable.cell)) }

  /// The table, each line ended, columns as wide as their widest cell; without its heading for other programs.
  func text(withHeading: Bool = true) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    var text = ""
    for (index, row) in rows.enumerated() where withHeading || index > 0 {
      var line = ""
      for (column, cell) in row.enumerated() {
        line += column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count + 2)
      }
      while line.hasSuffix(" ") { line.removeLast() }
      text += (index == 0 ? Style.bold(line) : line) + "\n"
    }
    return text
  }
}
