-- The spellings of INSERT: without INTO, without a column list, VALUE, modifiers, empty lists, odd spacing and case.
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(10) DEFAULT 'none', w INT DEFAULT 7);
INSERT t VALUES (1, 'a', 1);
INSERT INTO t VALUE (2, 'b', 2), (3, 'c', 3);
insert into t(id,v)values(4,'d'),(5,'e');
InSeRt LOW_PRIORITY INTO t VALUES (6,'f',6);
INSERT HIGH_PRIORITY INTO t VALUES (7,'g',7);
INSERT INTO t VALUES (8,'h',8);
INSERT INTO t (w, v, id) VALUES (9, 'i', 9);
INSERT INTO t (`w`, `id`) VALUES (10, 10);
INSERT INTO t () VALUES ();
INSERT INTO t VALUES ();
INSERT
  INTO
    t
  (
    ID , V
  )
  VALUES
  (
    20 , 'j'
  )
  ,
  ( 21
  ,'k' );
INSERT INTO`t`(`id`,`v`)VALUES(22,'l'),(23,'m');
INSERT INTO t(t.id, t.v) VALUES (24, 'n');
INSERT INTO hortator_case.t VALUES (25, 'o', 25);
INSERT INTO hortator_case.`t` (hortator_case.t.id) VALUES (26);
INSERT/**/INTO/**/t/**/VALUES/**/(27,'p',27);
INSERT INTO t VALUES (28,'q',28),(29,'r',29),(30,'s',30)   ;
INSERT INTO t (id) VALUES (31),(32)
;
