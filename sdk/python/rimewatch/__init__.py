"""Client of the Rimewatch API, which watches commercial refrigeration.

    from rimewatch import Rimewatch

    rime = Rimewatch("http://127.0.0.1:8080", token)
    rime.store_reading({"device_serial": "WIF-0001", "product_zone_temp": -18.4})
    for device in rime.all_devices(status="offline"):
        print(device["serial"])
"""
from .client import Answer, Rimewatch
from .error import RimewatchError
from .webhook import verify_webhook

__all__ = ["Answer", "Rimewatch", "RimewatchError", "verify_webhook"]
