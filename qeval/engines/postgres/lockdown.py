"""What the role that runs predictions may not do, enforced by the server itself."""

OWNER = "qeval"
"""Owns the embedded server's databases; loads data, never runs predictions."""

READER = "qeval_reader"
"""Runs predictions: may connect and read the loaded tables, nothing else."""

# Functions that PUBLIC may call by default and that reach beyond reading tables: they stop other
# sessions, run SQL given as text, write large objects or the log, keep locks or change settings.
_REFUSED = (
    "pg_terminate_backend", "pg_cancel_backend", "set_config", "pg_notify", "pg_export_snapshot",
    "pg_logical_emit_message",
    "lo_creat", "lo_create", "lo_from_bytea", "lo_get", "lo_open", "lo_put", "lo_truncate",
    "lo_truncate64", "lo_unlink", "loread", "lowrite", "lo_lseek", "lo_tell", "lo_close",
    "query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "cursor_to_xml",
    "cursor_to_xmlschema", "table_to_xml", "table_to_xmlschema", "table_to_xml_and_xmlschema",
    "schema_to_xml", "schema_to_xmlschema", "schema_to_xml_and_xmlschema", "database_to_xml",
    "database_to_xmlschema", "database_to_xml_and_xmlschema", "ts_stat",
    "pg_advisory_lock", "pg_advisory_lock_shared", "pg_advisory_xact_lock",
    "pg_advisory_xact_lock_shared", "pg_try_advisory_lock", "pg_try_advisory_lock_shared",
    "pg_try_advisory_xact_lock", "pg_try_advisory_xact_lock_shared",
)  # fmt: skip

REVOKE_SQL = (  # noqa: S608 - constants only
    "DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_catalog.pg_proc "
    "WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN ("
    + ", ".join(f"'{name}'" for name in _REFUSED)
    + ") LOOP EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || f || ' FROM PUBLIC'; END LOOP; END $$;"
)
"""Takes those functions from PUBLIC in the present database; needs a superuser."""

# Run in template1, so that every database made later has it. In single-user mode (-j) a statement
# ends at a semicolon followed by an empty line.
BOOTSTRAP_SQL = "\n\n".join(
    (
        f"CREATE ROLE {READER} LOGIN;",
        "REVOKE ALL ON DATABASE template1 FROM PUBLIC;",
        "REVOKE ALL ON DATABASE postgres FROM PUBLIC;",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC;",
        REVOKE_SQL,
        "",
    )
)
