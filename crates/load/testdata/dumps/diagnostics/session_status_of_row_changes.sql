-- Status counters of the dump's session behind statements that change rows in it.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2);
SELECT COUNT(*) FROM t;
FLUSH STATUS;
UPDATE t SET v = 2;
DELETE FROM t WHERE id = 1;
SHOW SESSION STATUS WHERE Variable_name IN ('Com_select', 'Com_update', 'Com_delete', 'Com_set_option', 'Com_insert', 'Com_begin', 'Com_commit', 'Com_show_create_table');
SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME IN ('HANDLER_WRITE', 'HANDLER_UPDATE', 'HANDLER_DELETE') ORDER BY 1;
