-- Tabs, form feeds, vertical tabs, many blank lines, statements begun on the line of another.
CREATE	TABLEt(id INT PRIMARY KEY,v VARCHAR(10));INSERT	INTO
t	VALUES(1,'a')


,

(2,'b');	;
   INSERT INTO t VALUES   (  3  ,  'c'  )   ;   INSERT INTO t VALUES(4,'d')
,(5,'e');INSERT INTO t
VALUES (6
,'');



