#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl stop rimewatch.service # still enabled, should it be installed again
fi
