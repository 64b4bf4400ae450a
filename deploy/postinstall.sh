#!/bin/sh
# "configure" has the version that was there before behind it, nothing at the first installation.
set -e
systemd-sysusers rimewatch.conf
# The service reads the settings, which may be secrets; so may who is in its group.
chown root:rimewatch /etc/rimewatch/rimewatch.env
if [ -z "$2" ]; then
	systemctl enable rimewatch.service # in an image that is being built, too
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	if systemctl is-enabled --quiet rimewatch.service; then
		systemctl restart rimewatch.service
	else
		systemctl try-restart rimewatch.service # an upgrade starts nothing that was disabled and stopped
	fi
fi
if [ -z "$2" ]; then
	echo "Rimewatch is on port 8080: http://$(uname -n):8080"
	echo "Its first page asks for a code, which is in the log: journalctl -u rimewatch | grep code="
fi
