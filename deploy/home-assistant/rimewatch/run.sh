#!/bin/sh
# Home Assistant keeps the options in /data/options.json and backs /data up.
set -e
option() { jq -r "$1" /data/options.json; }
export RIMEWATCH_DATA=/data/rimewatch RIMEWATCH_LISTEN=:8080 RIMEWATCH_MQTT_LISTEN=:1883
RIMEWATCH_LOG_LEVEL=$(option '.log_level // "info"')
RIMEWATCH_PUBLIC_URL=$(option '.public_url // ""')
RIMEWATCH_OUTBOUND_ALLOW=$(option '.outbound_allow // [] | join(",")')
export RIMEWATCH_LOG_LEVEL RIMEWATCH_PUBLIC_URL RIMEWATCH_OUTBOUND_ALLOW
exec rimewatch serve
