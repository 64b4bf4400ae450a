#!/bin/sh
set -e
systemd-sysusers rimewatch.conf
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl enable rimewatch.service
	systemctl restart rimewatch.service
fi
