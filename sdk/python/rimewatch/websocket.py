"""The little of WebSockets (RFC 6455) that the stream needs."""
from __future__ import annotations

import base64
import hashlib
import os
import socket
import ssl
import struct
from typing import Dict, Optional, Tuple
from urllib.parse import urlsplit

from .error import RimewatchError

LONGEST = 4 << 20
"""Bytes of a message of the service."""

SILENCE = 60.0
"""s that a connection may say nothing, pings included, which come every 25 s."""


class Closed(Exception):
    """The connection has ended; ``code`` is 1006 when nobody said why."""

    def __init__(self, code: int) -> None:
        super().__init__("closed with %d" % code)
        self.code = code


class Socket:
    def __init__(self, url: str, headers: Dict[str, str], context: Optional[ssl.SSLContext], timeout: float) -> None:
        at = urlsplit(url)
        secure = at.scheme == "https"
        self._socket = socket.create_connection((at.hostname or "", at.port or (443 if secure else 80)), timeout)
        try:
            if secure:
                self._socket = (context or ssl.create_default_context()).wrap_socket(self._socket, server_hostname=at.hostname)
            self._in = self._socket.makefile("rb")
            self._open(at.netloc, at.path, headers)
            self._socket.settimeout(SILENCE)
        except BaseException:
            self._socket.close()
            raise

    def _open(self, host: str, path: str, headers: Dict[str, str]) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = ["GET %s HTTP/1.1" % path, "Host: " + host, "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: " + key, "Sec-WebSocket-Protocol: rimewatch.v1"] + ["%s: %s" % h for h in headers.items()]
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        words = self._in.readline(65536).split(b" ", 2)
        if len(words) < 2 or not words[1].isdigit():
            raise Closed(1006)
        status, answered = int(words[1]), {}
        while True:
            name, _, value = self._in.readline(65536).decode("latin-1").rstrip("\r\n").partition(":")
            if not name:
                break
            answered[name.strip().title()] = value.strip()
        if status != 101:
            raise RimewatchError.of(status, answered, self._in.read(min(int(answered.get("Content-Length") or 0), 1 << 20)))
        if answered.get("Sec-Websocket-Accept") != base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode():
            raise Closed(1002)

    def send(self, text: str) -> None:
        self._frame(1, text.encode())

    def _frame(self, kind: int, data: bytes) -> None:
        size = len(data)
        head = struct.pack("!BB", 0x80 | kind, 0x80 | size) if size < 126 else struct.pack("!BBH", 0x80 | kind, 0xFE, size)
        mask = os.urandom(4)
        self._socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self) -> str:
        """The next message; Closed when there is none any more."""
        message = b""
        while True:
            kind, last, data = self._read()
            if kind == 9:
                self._frame(10, data)
            elif kind == 8:
                raise Closed(struct.unpack("!H", data[:2])[0] if len(data) >= 2 else 1005)
            elif kind in (0, 1):
                message += data
                if len(message) > LONGEST:
                    raise Closed(1009)
                if last:
                    return message.decode()

    def _read(self) -> Tuple[int, bool, bytes]:
        first, size = self._exactly(2)
        size &= 0x7F
        if size > 125:
            size = struct.unpack("!H" if size == 126 else "!Q", self._exactly(2 if size == 126 else 8))[0]
        if size > LONGEST:
            raise Closed(1009)
        return first & 0x0F, bool(first & 0x80), self._exactly(size)

    def _exactly(self, n: int) -> bytes:
        data = self._in.read(n)
        if len(data) < n:
            raise Closed(1006)
        return data

    def close(self) -> None:
        try:
            self._frame(8, struct.pack("!H", 1000))
        except OSError:
            pass
        self._socket.close()
