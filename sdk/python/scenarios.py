"""The scenarios that every client passes (e2e/sdk_test.go): scenarios.py NAME [ARGUMENT…], against $RIMEWATCH_URL with $RIMEWATCH_TOKEN.

Each prints a line of JSON for whatever the test wants to see.
"""
import http.client
import json
import os
import sys

from rimewatch import Rimewatch, RimewatchError, verify_webhook

rime = Rimewatch(os.environ["RIMEWATCH_URL"], os.environ["RIMEWATCH_TOKEN"], min_backoff=0.01, max_backoff=0.1)


def show(*values):
    print(json.dumps(values, separators=(",", ":")), flush=True)


def lists(site):
    show([d["serial"] for d in rime.all_devices(site_id=int(site), labels={"row": "1"})])


def refused():
    try:
        rime.store_reading({"device_serial": "S-1", "humidity": 500})
    except RimewatchError as e:
        show(e.status, e.code, sorted(e.fields), bool(e.request_id))


def changed(site):
    first = rime.answer("GET", "/v1/sites/{id}", path={"id": site})
    rime.update_site(site, {"address": "1 High Street"}, if_match=first.etag)
    try:
        rime.update_site(site, {"address": "2 High Street"}, if_match=first.etag)
    except RimewatchError as e:
        show(e.status, e.code)
    show(rime.get_site(site)["site"]["address"])


def merged(serial):
    rime.update_device(serial, {"labels": {"row": None, "aisle": "7"}}, merge=True)
    show(rime.get_device(serial)["device"]["labels"])


def created(serial):
    show(rime.create_device({"serial": serial, "equipment_type": "walkin_freezer"})["device"]["serial"])


def untimed(serial):
    try:
        rime.store_reading({"device_serial": serial, "product_zone_temp": -18})
    except (OSError, http.client.HTTPException):
        show("broken")


def timed(serial, at):
    show(rime.store_reading({"device_serial": serial, "recorded_at": at, "product_zone_temp": -18})["reading"]["product_zone_temp"])


def history(serials):
    rows = list(rime.lines("/v1/readings", {"serials": serials, "step": "raw"}))
    show(len(rows), rows == sorted(rows, key=lambda r: (r["device_serial"], r["recorded_at"])))


def events(after, types, n):
    seen = rime.events(after=after, types=types.split(","), every=0.05)
    for _ in range(int(n)):
        event = next(seen)
        show(event["type"], event["subject"], event["id"])


def stream(n):
    left = int(n)
    for message in rime.stream({"channel": "devices"}):
        if message["op"] == "subscribed":
            show("subscribed", message["recovered"])
            continue
        show(message["event"], message["data"]["device"]["serial"])
        left -= 1
        if not left:
            return


def webhook(secret, *cases):
    for case in cases:
        c = json.loads(case)
        show(verify_webhook(secret, c["headers"], c["body"], now=c["now"]))


def hooks(url, since):
    made = rime.create_webhook({"url": url, "types": ["alert.opened"]})
    hook = made["webhook"]["id"]
    show(made["webhook"]["types"], made["secret"].startswith("whsec_"))
    delivery = rime.ping_webhook(hook)["delivery"]
    show([d["id"] for d in rime.list_webhook_deliveries(hook)["deliveries"]] == [delivery["id"]])
    show(rime.rotate_webhook(hook, {})["secret"] != made["secret"])
    show(rime.replay_webhook(hook, {"from": since})["webhook"]["id"] == hook)
    show(rime.update_webhook(hook, {"description": "ERP", "enabled": False})["webhook"]["enabled"])
    show([w["description"] for w in rime.list_webhooks()["webhooks"]])
    rime.delete_webhook(hook)
    try:
        rime.get_webhook(hook)
    except RimewatchError as e:
        show(e.status, e.code)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
