"""The client: calls with retries, pages, events and the stream."""
from __future__ import annotations

import http.client
import json
import random
import re
import ssl
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional
from urllib.parse import quote, urlencode, urlsplit

from .error import RimewatchError
from .operations import Operations
from .websocket import Closed, Socket

if TYPE_CHECKING:
    from . import types

_FINAL = {4401: "unauthenticated", 4403: "forbidden"}
"""Closings of the stream that would repeat themselves."""

_REMEMBERED = 20_000
"""Ids of the stream that are remembered, so that what comes again after a lost connection is dropped."""


class Answer(NamedTuple):
    """An answer with its headers, of which ``etag`` is for ``if_match``."""

    data: Any
    status: int
    etag: Optional[str]
    headers: Mapping[str, str]


class Rimewatch(Operations):
    """Client of one workspace of one service, safe for several threads.

    ``url`` is the address of the service, with or without ``/api``. A call is tried again, ``retries`` times and with a growing,
    jittered wait: after 429 and 503, when the service has done nothing, and after a broken connection where the call may happen twice.
    ``timeout`` is for one try, ``max_wait`` the longest Retry-After that is waited for, in s.
    """

    def __init__(self, url: str, token: str = "", *, timeout: float = 30, retries: int = 4, min_backoff: float = 0.2, max_backoff: float = 5,
                 max_wait: float = 60, context: Optional[ssl.SSLContext] = None) -> None:
        at = urlsplit(url)
        if at.scheme not in ("http", "https") or not at.hostname:
            raise ValueError("%r is not a URL such as http://127.0.0.1:8080" % url)
        path = at.path.rstrip("/")
        self._at, self._root = at, (path[:-4] if path.endswith("/api") else path) + "/api"
        self._token, self._timeout, self._context = token, timeout, context
        self._retries, self._min, self._max, self._max_wait = retries, min_backoff, max_backoff, max_wait
        self._local = threading.local()

    def call(self, method: str, template: str, **how: Any) -> Any:
        """Returns the data of an answer: ``call("GET", "/v1/devices/{serial}", path={"serial": "A"})``. See ``answer``."""
        return self.answer(method, template, **how).data

    def answer(self, method: str, template: str, *, path: Optional[Mapping[str, Any]] = None, query: Optional[Mapping[str, Any]] = None, body: Any = None,
               content_type: Optional[str] = None, if_match: Optional[str] = None, merge: bool = False, idempotency_key: Optional[str] = None,
               accept: Optional[str] = None, raw: bool = False) -> Answer:
        """Makes a call and returns its answer. With ``accept`` or ``raw`` the data are bytes.

        A call with an ``idempotency_key``, which no other has within 24 h, is carried out once, however often it is made.
        """
        response, text = self._send(method, template, path, query, body, content_type, if_match, merge, idempotency_key, accept)
        if raw or accept:
            data: Any = text
        else:
            try:
                data = json.loads(text)["data"]
            except (ValueError, KeyError, TypeError):
                raise RimewatchError(response.status, "not_the_api", "something else than the service answered") from None
        return Answer(data, response.status, response.headers.get("ETag"), response.headers)

    def pages(self, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        """Yields the things of a list, page after page."""
        cursor = None
        while True:
            data = self.call("GET", path, query={"per_page": 100, **query, "cursor": cursor})
            for name, value in data.items():
                if isinstance(value, list) and name != "warnings":
                    yield from value
            cursor = (data.get("pagination") or {}).get("next_cursor")
            if not cursor:
                return

    def lines(self, path: str, query: Optional[Mapping[str, Any]] = None) -> Iterator[Dict[str, Any]]:
        """Yields the lines of an answer that is streamed as NDJSON, such as ``/v1/readings``, the history of many devices."""
        response, connection = self._send("GET", path, None, query, None, None, None, False, None, "application/x-ndjson", stream=True)
        try:
            for line in response:
                yield json.loads(line)
        finally:
            connection.close()

    def events(self, *, after: Optional[str] = None, since: Optional[str] = None, types: Optional[Iterable[str]] = None, site_id: Optional[int] = None,
               every: float = 1) -> "Iterator[types.Event]":
        """Yields events, and asks every ``every`` s for those to come, without end.

        Store the id of the last event that was dealt with and pass it as ``after``: no event is missed over a restart of either side
        within 30 days, and none comes twice. After that the error is ``cursor_expired``. A service that is away is asked until it is back.
        """
        names, failures = ",".join(types) if types else None, 0
        while True:
            try:
                page = self.list_events(after=after, since=since, types=names, site_id=site_id, per_page=1000)
                failures = 0
            except (RimewatchError, OSError, http.client.HTTPException) as e:
                if isinstance(e, RimewatchError) and e.status < 500 and e.status != 429:
                    raise
                time.sleep(min(30, 2**failures))
                failures += 1
                continue
            for event in page["events"]:
                yield event
                after = event["id"]
            after = page["next_cursor"] or after
            if not page["has_more"]:
                time.sleep(every)

    def stream(self, *subscriptions: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
        """Yields what happens, at once: ``stream({"channel": "alerts", "filter": {"severity": "critical"}})``.

        A lost connection is made again and goes on after the last message: none is missed within ten minutes, and none comes twice.
        After a message ``subscribed`` that is not ``recovered``, fetch the present state.
        """
        subs = {s["channel"]: dict(s, op="subscribe", id=i) for i, s in enumerate(subscriptions)}
        if len(subs) < len(subscriptions):
            raise ValueError("a channel is subscribed to twice")
        seen: Dict[str, None] = {}
        failures = 0
        while True:
            connection = None
            try:
                connection = Socket("%s://%s%s/v1/stream" % (self._at.scheme, self._at.netloc, self._root), self._headers("GET", None), self._context, self._timeout)
                for sub in subs.values():
                    connection.send(json.dumps(sub))
                while True:
                    message = json.loads(connection.receive())
                    failures = 0
                    if message["op"] == "error":
                        e = message["error"]
                        raise RimewatchError(0, e["code"], e["message"], e.get("fields"))
                    if message["op"] == "subscribed":
                        subs[message["channel"]]["since"] = message["last_event_id"]
                        yield message
                    elif message["op"] == "event" and message["id"] not in seen:
                        seen[message["id"]] = None
                        if len(seen) > _REMEMBERED:
                            del seen[next(iter(seen))]
                        yield message
                        subs[message["channel"]]["since"] = message["id"]
            except Closed as e:
                if e.code in _FINAL:
                    raise RimewatchError(0, _FINAL[e.code], "the stream was closed") from None
            except RimewatchError as e:
                if e.status < 500 and e.status != 429:
                    raise
            except OSError:
                pass
            finally:
                if connection:
                    connection.close()
            time.sleep(self._backoff(failures))
            failures += 1

    def _send(self, method: str, template: str, path: Optional[Mapping[str, Any]], query: Optional[Mapping[str, Any]], body: Any, content_type: Optional[str],
              if_match: Optional[str], merge: bool, key: Optional[str], accept: Optional[str], stream: bool = False) -> Any:
        target = self._root + re.sub(r"\{(\w+)\}", lambda m: quote(str((path or {})[m[1]]), safe=""), template)
        asked = {n: _text(v) for n, v in (query or {}).items() if v is not None}
        if asked:
            target += "?" + urlencode(asked)
        readings = method == "POST" and re.search(r"/(readings|readings/batch|heartbeat)$", template)
        if method == "POST" and not key and not readings:
            key = str(uuid.uuid4())
        # A second DELETE may meet a successor of the same name.
        idempotent = method != "DELETE" if method != "POST" else bool(key) or _timed(body)
        headers = self._headers(method, accept)
        if body is not None:
            headers["Content-Type"] = content_type or ("application/merge-patch+json" if merge else "application/json")
        if if_match:
            headers["If-Match"] = if_match
        if key:
            headers["Idempotency-Key"] = key
        data = body if body is None or isinstance(body, bytes) else json.dumps(body, allow_nan=False).encode()
        attempt = 0
        while True:
            try:
                return self._try(method, target, data, headers, stream, idempotent)
            except (RimewatchError, OSError, http.client.HTTPException) as e:
                wait = self._again(e, attempt, idempotent)
                if wait is None:
                    raise
            time.sleep(wait)
            attempt += 1

    def _try(self, method: str, target: str, data: Optional[bytes], headers: Dict[str, str], stream: bool, idempotent: bool) -> Any:
        if not idempotent:
            self._drop()  # a kept connection may have ended meanwhile, and nobody would know whether the call arrived
        connection = getattr(self._local, "connection", None)
        if connection is None:
            if self._at.scheme == "https":
                connection = http.client.HTTPSConnection(self._at.netloc, timeout=self._timeout, context=self._context)
            else:
                connection = http.client.HTTPConnection(self._at.netloc, timeout=self._timeout)
            self._local.connection = connection
        try:
            connection.request(method, target, data, headers)
            response = connection.getresponse()
            if stream and response.status == 200:
                self._local.connection = None  # it is the reader's, who may make other calls meanwhile
                return response, connection
            text = response.read()
        except BaseException:
            self._drop()
            raise
        if response.status >= 300:
            raise RimewatchError.of(response.status, response.headers, text)
        return response, text

    def _drop(self) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _headers(self, method: str, accept: Optional[str]) -> Dict[str, str]:
        headers = {"Accept": accept or "application/json", "User-Agent": "rimewatch-python"}
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        return headers

    def _backoff(self, attempt: int) -> float:
        """A random half shorter, so that many clients do not come back at once."""
        longest = min(self._max, self._min * 2 ** min(attempt, 20))
        return longest / 2 + random.random() * longest / 2

    def _again(self, e: Exception, attempt: int, idempotent: bool) -> Optional[float]:
        """The wait before the next try; None = there is none. After 429 and 503 the service has done nothing."""
        if attempt >= self._retries:
            return None
        wait = self._backoff(attempt)
        if not isinstance(e, RimewatchError) or e.status in (502, 504):
            return wait if idempotent else None
        if e.status not in (429, 503) or (e.code == "not_the_api" and not idempotent) or e.retry_after > self._max_wait:
            return None
        return max(wait, e.retry_after * 1.25)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _timed(body: Any) -> bool:
    """Whether all readings of a body have a time, by which the service keeps each of them once."""
    readings: List[Any] = body["readings"] if isinstance(body, dict) and "readings" in body else [body]
    return all(isinstance(r, dict) and r.get("recorded_at") is not None for r in readings)
