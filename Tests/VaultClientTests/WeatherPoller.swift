import VaultClient

/// Polls the weather every ten minutes, always with the key that is in the vault now.
func pollWeather(
  with vault: Vault, every interval: Duration = .seconds(600),
  report: @escaping @Sendable (_ appid: String) async throws -> Void
) async throws {
  var vault = vault
  vault.reason = "current weather"
  var polling: Task<Void, any Error>?
  defer { polling?.cancel() }
  // At once, and then whenever the key was replaced or the daemon came back.
  for try await _ in vault.changes(of: "owm/appid") {
    // After a lock the key stays away until somebody unlocks the vault: an hour is worth waiting for.
    let appid = try vault.get("owm/appid", as: String.self, wait: .seconds(3600))
    polling?.cancel()
    polling = Task {
      while !Task.isCancelled {
        try await report(appid)
        try await Task.sleep(for: interval)
      }
    }
  }
}
