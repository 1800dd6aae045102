"""What the role that runs predictions may not do, enforced by the server itself."""

from qeval.languages.sql_functions import REFUSED_FUNCTIONS

OWNER = "qeval"
"""Owns the embedded server's databases; loads data, never runs predictions."""

READER = "qeval_reader"
"""Runs predictions: may connect and read the loaded tables, nothing else."""

REVOKE_SQL = (
    "DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_catalog.pg_proc "
    "WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY ('{NAMES}') "
    "LOOP EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || f || ' FROM PUBLIC'; END LOOP; END $$;"
).replace("NAMES", ",".join(sorted(REFUSED_FUNCTIONS)))
"""Takes those functions from PUBLIC in the present database; needs a superuser."""

# Run in template1, so that every database made later has it. In single-user mode (-j) a statement
# ends at a semicolon followed by an empty line.
BOOTSTRAP_SQL = "\n\n".join(
    (
        f"CREATE ROLE {READER} LOGIN;",
        "REVOKE ALL ON DATABASE template1 FROM PUBLIC;",
        "REVOKE ALL ON DATABASE postgres FROM PUBLIC;",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC;",
        "REVOKE USAGE ON LANGUAGE plpgsql, sql FROM PUBLIC;",
        REVOKE_SQL,
        "",
    )
)
