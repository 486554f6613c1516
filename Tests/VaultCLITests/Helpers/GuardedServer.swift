import Foundation
import VaultTesting

/// A web server on the loopback interface. It serves the files of a folder, and a fixed answer to POST, only if the
/// request's `Authorization` header contains the wanted text.
final class GuardedServer {
  let port: Int
  private let sandbox: Sandbox
  private let log: String
  private let program: Begun

  /// - Parameters:
  ///   - wanted: a part of the `Authorization` header that lets a request in.
  ///   - posted: the answer to POST.
  ///   - certificate: a file with the server's key and certificate; with it, the server speaks TLS and takes clients'
  ///     certificates.
  init(
    _ sandbox: Sandbox, _ folder: String, wanted: String, posted: String = "", certificate: String = ""
  ) throws {
    self.sandbox = sandbox
    let base = sandbox.root + "/server-" + UUID().uuidString
    log = base + ".log"
    program = Begun(
      sandbox, ["-c", Self.script, folder, wanted, base + ".port", log, posted, certificate],
      program: "/usr/bin/python3")
    var found: Int?
    try wait(for: "the server's port") {
      found = (try? String(contentsOfFile: base + ".port", encoding: .utf8)).flatMap { Int($0) }
      return found != nil
    }
    port = found ?? 0
  }

  /// Returns the `Authorization` header of a user and password (basic authentication).
  static func basic(_ user: String, _ password: String) -> String {
    "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }

  /// The requests so far, one line each: method, path and `Authorization`.
  var requests: [String] {
    ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  private static let script = """
    import http.server, os, ssl, sys
    folder, wanted, port, log, posted, certificate = sys.argv[1:]
    class Guard(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)
        def is_let_in(self):
            said = self.headers.get("Authorization", "")
            if certificate:
                said += str(self.connection.getpeercert())
            with open(log, "a") as file:
                print(self.command, self.path, said, file=file)
            if wanted in said:
                return True
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="guarded"')
            self.send_header("Content-Length", "0")
            self.end_headers()
        def do_GET(self):
            if self.is_let_in():
                super().do_GET()
        def do_HEAD(self):
            if self.is_let_in():
                super().do_HEAD()
        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if self.is_let_in():
                self.send_response(200)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(posted)))
                self.end_headers()
                self.wfile.write(posted.encode())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Guard)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        context.load_verify_locations(certificate)
        context.verify_mode = ssl.CERT_OPTIONAL
        server.socket = context.wrap_socket(server.socket, server_side=True)
    with open(port + ".new", "w") as file:
        file.write(str(server.server_port))
    os.rename(port + ".new", port)
    server.serve_forever()

    """
}
