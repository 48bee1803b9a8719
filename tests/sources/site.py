"""A server with TLS that answers for all hosts of attachments."""

from __future__ import annotations

import datetime as dt
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot.runs.logs import LOG_HOSTS


@dataclass
class Site:
    """What the server answers by path, and what it was asked."""

    port: int = 0
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    delay: float = 0.0

    async def here(self, _host: str) -> tuple[str, int]:
        return "127.0.0.1", self.port


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for the attachment hosts, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "github.com")])
    now = dt.datetime.now(dt.UTC)
    hosts = x509.SubjectAlternativeName([x509.DNSName(host) for host in ("github.com", *LOG_HOSTS)])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(hosts, critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "site.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def site(certificate: Path) -> Iterator[Site]:
    served = Site()
    served.tls.load_verify_locations(certificate)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append((str(self.headers["Host"]), self.path, dict(self.headers)))
            time.sleep(served.delay)
            status, headers, body = served.pages.get(self.path, (404, {}, b""))
            self.send_response(status)
            for pair in headers.items():
                self.send_header(*pair)
            self.end_headers()
            try:
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
    served.port = httpd.server_port
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def redirect(to: str) -> tuple[int, dict[str, str], bytes]:
    return 302, {"Location": to}, b""
