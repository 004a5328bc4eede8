#!/bin/sh
# Makes the role that workers and the API connect as, when the database is made; `mnestic migrate` gives mnestic_app its rights.
set -eu
psql --set ON_ERROR_STOP=1 --set password="$MNESTIC_APP_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE mnestic_app LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
CREATE ROLE app LOGIN PASSWORD :'password';
GRANT mnestic_app TO app;
SQL
