"""Functions of PostgreSQL that a question about data never needs."""

# `pg_sleep` is not among them: it only takes time, and the verdict for that is `timeout`.
REFUSED_FUNCTIONS = frozenset(
    (
        # files of the server
        "pg_read_file", "pg_read_binary_file", "pg_ls_dir", "pg_ls_logdir", "pg_ls_waldir",
        "pg_ls_tmpdir", "pg_ls_archive_statusdir", "pg_ls_logicalmapdir",
        "pg_ls_logicalsnapdir", "pg_ls_replslotdir", "pg_ls_summariesdir", "pg_stat_file",
        "pg_file_read", "pg_file_write", "pg_file_unlink", "pg_file_rename", "pg_file_sync",
        "pg_hba_file_rules", "pg_show_all_file_settings", "pg_current_logfile",
        # large objects
        "lo_creat", "lo_create", "lo_from_bytea", "lo_get", "lo_open", "lo_put", "lo_truncate",
        "lo_truncate64", "lo_unlink", "lo_import", "lo_export", "lo_lseek", "lo_lseek64",
        "lo_tell", "lo_tell64", "lo_close", "loread", "lowrite", "lo_manage",
        # other servers
        "dblink", "dblink_connect", "dblink_connect_u", "dblink_exec", "dblink_open",
        "dblink_send_query", "postgres_fdw_get_connections",
        # SQL given as text
        "query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "cursor_to_xml",
        "cursor_to_xmlschema", "table_to_xml", "table_to_xmlschema",
        "table_to_xml_and_xmlschema", "schema_to_xml", "schema_to_xmlschema",
        "schema_to_xml_and_xmlschema", "database_to_xml", "database_to_xmlschema",
        "database_to_xml_and_xmlschema", "ts_stat", "crosstab", "crosstabn", "connectby",
        "xpath_table",
        # sessions, settings, locks
        "pg_terminate_backend", "pg_cancel_backend", "pg_reload_conf", "pg_rotate_logfile",
        "pg_promote", "set_config", "setseed", "pg_notify", "pg_export_snapshot",
        "pg_log_backend_memory_contexts", "pg_log_standby_snapshot", "pg_advisory_lock",
        "pg_advisory_lock_shared", "pg_advisory_xact_lock", "pg_advisory_xact_lock_shared",
        "pg_try_advisory_lock", "pg_try_advisory_lock_shared", "pg_try_advisory_xact_lock",
        "pg_try_advisory_xact_lock_shared", "pg_advisory_unlock", "pg_advisory_unlock_shared",
        "pg_advisory_unlock_all", "pg_switch_wal", "pg_create_restore_point", "pg_backup_start",
        "pg_backup_stop", "pg_start_backup", "pg_stop_backup", "pg_stat_reset",
        "pg_stat_reset_shared", "pg_stat_reset_slru", "pg_stat_reset_single_table_counters",
        "pg_stat_reset_single_function_counters", "pg_stat_clear_snapshot",
        "pg_stat_statements_reset",
        # replication
        "pg_logical_emit_message", "pg_create_physical_replication_slot",
        "pg_create_logical_replication_slot", "pg_drop_replication_slot",
        "pg_logical_slot_get_changes", "pg_logical_slot_peek_changes",
        "pg_replication_origin_create", "pg_replication_origin_drop",
        # writes in disguise
        "nextval", "setval", "pg_import_system_collations", "pg_restore_relation_stats",
        "pg_restore_attribute_stats", "pg_clear_relation_stats", "pg_clear_attribute_stats",
    )
)  # fmt: skip
"""Refused by the static check, and taken from PUBLIC on the embedded server."""
