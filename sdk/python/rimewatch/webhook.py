"""Webhooks that come from the service."""
from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from typing import Mapping, Optional, Union

TOLERANCE = 5 * 60
"""s by which the clock of a sender may differ, as Standard Webhooks has it."""


def verify_webhook(secret: str, headers: Mapping[str, str], body: Union[str, bytes], now: Optional[float] = None) -> bool:
    """Reports whether one of the signatures was made with ``secret``, at most five minutes ago.

    ``body`` is the text as it came, not JSON that was written again. Drop a Webhook-Id that you have seen: webhooks come at least once.
    """
    head = {name.lower(): value for name, value in headers.items()}
    number, at = head.get("webhook-id", ""), head.get("webhook-timestamp", "")
    if not number or not at.isdigit() or abs((time.time() if now is None else now) - int(at)) > TOLERANCE:
        return False
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except binascii.Error:
        return False
    text = body.encode() if isinstance(body, str) else body
    good = "v1," + base64.b64encode(hmac.new(key, ("%s.%s." % (number, at)).encode() + text, hashlib.sha256).digest()).decode()
    return any([hmac.compare_digest(good.encode(), one.encode()) for one in head.get("webhook-signature", "").split(" ")])
