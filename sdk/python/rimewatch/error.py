"""What the service refuses."""
from __future__ import annotations

import email.utils
import json
from typing import Dict, List, Mapping


class RimewatchError(Exception):
    """A refusal. Decide by ``code``, which is never renamed; the text is for people.

    ``status`` is that of HTTP, 0 over the stream; ``code`` such as ``validation_failed``, or ``not_the_api`` when something else
    than the service answered; ``fields`` says what is wrong with which field; ``retry_after`` are the s that the service asks to wait.
    """

    def __init__(self, status: int, code: str, message: str, fields: "Dict[str, List[str]] | None" = None, request_id: str = "", retry_after: float = 0) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.fields, self.request_id, self.retry_after = fields or {}, request_id, retry_after

    @classmethod
    def of(cls, status: int, headers: Mapping[str, str], body: bytes) -> "RimewatchError":
        wait = _retry_after(headers)
        try:
            e = json.loads(body)["error"]
            return cls(status, e["code"], e["message"], e["fields"], e["request_id"], wait)
        except (ValueError, KeyError, TypeError):
            return cls(status, "not_the_api", "HTTP %d: something else than the service answered" % status, retry_after=wait)


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds of Retry-After, also where it is a date, which counts from the answer's own."""
    value = headers.get("Retry-After") or ""
    if value.isdigit():
        return int(value)
    at, now = (email.utils.parsedate_tz(v) for v in (value, headers.get("Date") or ""))
    return max(0.0, email.utils.mktime_tz(at) - email.utils.mktime_tz(now)) if at and now else 0
