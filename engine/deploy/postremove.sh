#!/bin/sh
set -e
# Nothing of the unit stays known to systemd.
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
