-- not on mysql: MERGE tables of MyISAM tables that rows are written to
-- A MERGE table becomes a table of its own: it copies the rows that its children have by then.
CREATE TABLE a (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MyISAM;
CREATE TABLE b (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MyISAM;
CREATE TABLE c (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MyISAM;
CREATE TABLE d (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MyISAM;
CREATE TABLE e (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MyISAM;
CREATE TABLE f (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MyISAM;
CREATE TABLE m (id INT NOT NULL, v VARCHAR(20), KEY (id)) ENGINE=MERGE UNION=(a, b, c, d, e, f) INSERT_METHOD=LAST;
INSERT INTO a VALUES (0, 'a'), (1, 'a'), (2, 'a'), (3, 'a'), (4, 'a'), (5, 'a'), (6, 'a'), (7, 'a'), (8, 'a'), (9, 'a'), (10, 'a'), (11, 'a'), (12, 'a'), (13, 'a'), (14, 'a'), (15, 'a'), (16, 'a'), (17, 'a'), (18, 'a'), (19, 'a'), (20, 'a'), (21, 'a'), (22, 'a'), (23, 'a'), (24, 'a'), (25, 'a'), (26, 'a'), (27, 'a'), (28, 'a'), (29, 'a');
INSERT INTO b VALUES (100, 'b'), (101, 'b'), (102, 'b'), (103, 'b'), (104, 'b'), (105, 'b'), (106, 'b'), (107, 'b'), (108, 'b'), (109, 'b'), (110, 'b'), (111, 'b'), (112, 'b'), (113, 'b'), (114, 'b'), (115, 'b'), (116, 'b'), (117, 'b'), (118, 'b'), (119, 'b'), (120, 'b'), (121, 'b'), (122, 'b'), (123, 'b'), (124, 'b'), (125, 'b'), (126, 'b'), (127, 'b'), (128, 'b'), (129, 'b');
INSERT INTO c VALUES (200, 'c'), (201, 'c'), (202, 'c'), (203, 'c'), (204, 'c'), (205, 'c'), (206, 'c'), (207, 'c'), (208, 'c'), (209, 'c'), (210, 'c'), (211, 'c'), (212, 'c'), (213, 'c'), (214, 'c'), (215, 'c'), (216, 'c'), (217, 'c'), (218, 'c'), (219, 'c'), (220, 'c'), (221, 'c'), (222, 'c'), (223, 'c'), (224, 'c'), (225, 'c'), (226, 'c'), (227, 'c'), (228, 'c'), (229, 'c');
INSERT INTO d VALUES (300, 'd'), (301, 'd'), (302, 'd'), (303, 'd'), (304, 'd'), (305, 'd'), (306, 'd'), (307, 'd'), (308, 'd'), (309, 'd'), (310, 'd'), (311, 'd'), (312, 'd'), (313, 'd'), (314, 'd'), (315, 'd'), (316, 'd'), (317, 'd'), (318, 'd'), (319, 'd'), (320, 'd'), (321, 'd'), (322, 'd'), (323, 'd'), (324, 'd'), (325, 'd'), (326, 'd'), (327, 'd'), (328, 'd'), (329, 'd');
INSERT INTO e VALUES (400, 'e'), (401, 'e'), (402, 'e'), (403, 'e'), (404, 'e'), (405, 'e'), (406, 'e'), (407, 'e'), (408, 'e'), (409, 'e'), (410, 'e'), (411, 'e'), (412, 'e'), (413, 'e'), (414, 'e'), (415, 'e'), (416, 'e'), (417, 'e'), (418, 'e'), (419, 'e'), (420, 'e'), (421, 'e'), (422, 'e'), (423, 'e'), (424, 'e'), (425, 'e'), (426, 'e'), (427, 'e'), (428, 'e'), (429, 'e');
INSERT INTO f VALUES (500, 'f'), (501, 'f'), (502, 'f'), (503, 'f'), (504, 'f'), (505, 'f'), (506, 'f'), (507, 'f'), (508, 'f'), (509, 'f'), (510, 'f'), (511, 'f'), (512, 'f'), (513, 'f'), (514, 'f'), (515, 'f'), (516, 'f'), (517, 'f'), (518, 'f'), (519, 'f'), (520, 'f'), (521, 'f'), (522, 'f'), (523, 'f'), (524, 'f'), (525, 'f'), (526, 'f'), (527, 'f'), (528, 'f'), (529, 'f');
ALTER TABLE m ENGINE=InnoDB;
INSERT INTO a (id, v) VALUES (9, 'a');
