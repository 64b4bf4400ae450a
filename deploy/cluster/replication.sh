#!/bin/sh
# Lets the standby replicate, and has commits wait for it from the next start on. Run once,
# when the primary's database is made.
set -eu
echo "host replication rimewatch all scram-sha-256" >>"$PGDATA/pg_hba.conf"
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -c "ALTER ROLE rimewatch REPLICATION"
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -c "ALTER SYSTEM SET synchronous_standby_names = 'standby'"
