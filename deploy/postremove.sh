#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
if [ "$1" = purge ]; then
	rm -rf /etc/rimewatch
	rm -f /etc/systemd/system/multi-user.target.wants/rimewatch.service
	if [ -d /var/lib/rimewatch ]; then
		echo "The readings and records of Rimewatch are kept in /var/lib/rimewatch, and so is the user rimewatch. To delete them:"
		echo "  rm -r /var/lib/rimewatch && userdel rimewatch"
	fi
fi
