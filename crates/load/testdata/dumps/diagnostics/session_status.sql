-- errors on mysql: it has no information_schema.SESSION_STATUS
-- Status counters of the dump's session count what the dump's own statements do.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
FLUSH STATUS;
SELECT COUNT(*) FROM t;
SET @a = 1, sql_mode = '';
SELECT SUM(v) FROM t;
USE hortator_case;
SHOW SESSION STATUS WHERE Variable_name IN ('Com_select', 'Com_set_option', 'Com_insert', 'Com_begin', 'Com_commit', 'Com_change_db', 'Com_show_create_table');
SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME IN ('HANDLER_READ_RND_NEXT', 'HANDLER_WRITE', 'HANDLER_COMMIT') ORDER BY 1;
