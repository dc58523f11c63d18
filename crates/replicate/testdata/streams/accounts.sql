CREATE USER `u {d}`@localhost IDENTIFIED BY 'secret', `v {d}`
GRANT SELECT, INSERT ON {d}.* TO `v {d}`
CREATE ROLE `r {d}`
GRANT UPDATE ON {d}.* TO `r {d}`
GRANT `r {d}` TO `u {d}`@localhost WITH ADMIN OPTION
SET DEFAULT ROLE `r {d}` FOR `u {d}`@localhost
SET PASSWORD FOR `u {d}`@localhost = PASSWORD('other')
ALTER USER `v {d}` ACCOUNT LOCK PASSWORD EXPIRE NEVER
REVOKE SELECT ON {d}.* FROM `v {d}`
RENAME USER `v {d}` TO `w {d}`
REVOKE ALL PRIVILEGES, GRANT OPTION FROM `w {d}`
CREATE SERVER `s {d}` FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')
DROP SERVER `s {d}`
DROP ROLE `r {d}`
DROP USER `u {d}`@localhost, `w {d}`
CREATE TABLE t (id INT)
