-- The dump takes variables off the list of those that the server reports, the list itself among them.
CREATE TABLE u (id INT PRIMARY KEY, v TIMESTAMP);
SET session_track_system_variables = '';
SET time_zone = '+05:00';
INSERT INTO u VALUES (1, '2020-01-01 00:00:00');
SET session_track_system_variables = 'autocommit', time_zone = '+06:00';
INSERT INTO u VALUES (2, '2020-01-01 00:00:00');
SET @a = 1;
SET @@session.session_track_system_variables = '';
SET @b = 1;
SET time_zone = '+07:00';
INSERT INTO u VALUES (3, '2020-01-01 00:00:00');
