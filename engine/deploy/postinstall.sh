#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
	systemd-sysusers /usr/lib/sysusers.d/heddle.conf
	systemctl daemon-reload
	systemctl try-restart heddle.service
fi
