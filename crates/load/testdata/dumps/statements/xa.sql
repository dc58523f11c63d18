-- XA: committed, rolled back, and in one phase.
CREATE TABLE a (id INT PRIMARY KEY, v INT);
XA START 'one';
INSERT INTO a VALUES (1, 1), (2, 2);
XA END 'one';
XA PREPARE 'one';
XA COMMIT 'one';
XA BEGIN 'two','branch',7;
INSERT INTO a VALUES (3, 3);
XA END 'two','branch',7;
XA ROLLBACK 'two','branch',7;
XA START X'616263';
INSERT INTO a VALUES (4, 4);
XA END X'616263';
XA COMMIT X'616263' ONE PHASE;
INSERT INTO a VALUES (3, 30);
XA RECOVER;
