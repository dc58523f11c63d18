-- Comments of every kind, between statements, within them, within VALUES, holding quotes and semicolons.
# a hash comment; with 'quotes" and `ticks
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(60)); -- after a statement; don't
/* a block; 'one" */
/*
 * of several lines;
 */ INSERT INTO t VALUES (1, 'a'); # and after
INSERT INTO t VALUES (2, /* within; ' */ 'b'), -- don't stop; here
  (3, 'c'), # nor here; "
  /* (99, 'never'), */ (4, 'd');
INSERT INTO t VALUES (5, '-- not a comment'), (6, '# nor this'), (7, '/* nor */ this'), (8, "/*! and */ this");
--
INSERT INTO t VALUES (9, 1--1), (10, 5-- 3
 ), (11, 2 --	tab
);
INSERT INTO t VALUES (12, 'x') /* before the semicolon */ ;
INSERT INTO t VALUES (13, 'y') -- and before the semicolon
;
/**/INSERT/**/INTO/**/t/**/VALUES(14,'z');/**/
/***/ INSERT INTO t VALUES (15, '/*'), (16, '*/'); /** doc **/
;
;;
 ; /* empty statements above */
INSERT INTO t VALUES (18, 'last');
-- the end; of it
