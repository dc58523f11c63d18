//! Ways to a row that an INSERT's text does not show: routines, views, prepared statements, temporary tables, sequences.

use super::script::Script;

/// One of them, with tables of its own.
pub fn run(script: &mut Script) {
    let number = script.new_number();
    match script.dice.below(7) {
        0 => procedure(script, number),
        1 => view(script, number),
        2 => prepared(script, number),
        3 => temporary(script, number),
        4 => sequence(script, number),
        5 => function(script, number),
        _ => head_of_a_dump(script, number),
    }
}

fn procedure(script: &mut Script, number: usize) {
    script.say_as_it_is(format!(
        "DELIMITER $$\nCREATE PROCEDURE p{number}(IN n INT)\nBEGIN\n  INSERT INTO log (what) VALUES (CONCAT('p{number}; ', n));\n  \
         SELECT COUNT(*) FROM log;\nEND$$\nDELIMITER ;\n"
    ));
    for _ in 0..script.dice.below(3) + 1 {
        let argument = script.dice.below(9);
        script.say(format!("CALL p{number}({argument})"));
        script.say(format!("INSERT INTO log (what) VALUES ('beside p{number}'), ({argument})"));
    }
}

fn view(script: &mut Script, number: usize) {
    script.say(format!("CREATE TABLE under{number} (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20))"));
    script.say(format!("CREATE VIEW over{number} AS SELECT id, v FROM under{number} WHERE id < 50 WITH CHECK OPTION"));
    for round in 0..script.dice.below(5) + 2 {
        let name = script.dice.pick(&["under", "over"]);
        script.say(format!("INSERT INTO {name}{number} (v) VALUES ('{name}'), ('round {round}')"));
    }
    script.say(format!("UPDATE over{number} SET v = CONCAT(v, '!') WHERE id > 2"));
}

fn prepared(script: &mut Script, number: usize) {
    script.say(format!("PREPARE s{number} FROM 'INSERT INTO log (what) VALUES (?)'"));
    script.say(format!("SET @v{number} = 'by; statement'"));
    for _ in 0..script.dice.below(3) + 1 {
        script.say(format!("EXECUTE s{number} USING @v{number}"));
        script.say("INSERT INTO log (what) VALUES ('beside'), ('them')");
    }
    script.say(format!("DEALLOCATE PREPARE s{number}"));
}

fn temporary(script: &mut Script, number: usize) {
    script.say(format!("CREATE TABLE both{number} (id INT PRIMARY KEY, v VARCHAR(20))"));
    script.say(format!("INSERT INTO both{number} VALUES (1, 'real'), (2, 'real')"));
    script.say(format!("CREATE TEMPORARY TABLE both{number} (id INT PRIMARY KEY, v VARCHAR(20))"));
    script.say(format!("INSERT INTO both{number} VALUES (1, 'temporary'), (3, 'temporary')"));
    script.say(format!("INSERT INTO log (what) SELECT CONCAT(id, v) FROM both{number} ORDER BY id"));
    script.say(format!("DROP TEMPORARY TABLE both{number}"));
    script.say(format!("INSERT INTO both{number} VALUES (3, 'real'), (4, 'real')"));
}

fn sequence(script: &mut Script, number: usize) {
    script.say(format!("CREATE SEQUENCE q{number} START WITH 5 INCREMENT BY 3"));
    script.say(format!("CREATE TABLE drawn{number} (id BIGINT DEFAULT NEXTVAL(q{number}), v INT)"));
    for round in 0..script.dice.below(4) + 2 {
        script.say(format!("INSERT INTO drawn{number} (v) VALUES ({round}), ({round})"));
        if script.dice.chance(40) {
            script.say(format!("INSERT INTO drawn{number} VALUES (NEXTVAL(q{number}), {round}), (1, 1)"));
        }
        if script.dice.chance(20) {
            script.say(format!("SELECT SETVAL(q{number}, {})", 100 + round * 10));
        }
    }
}

fn function(script: &mut Script, number: usize) {
    script.say_as_it_is(format!(
        "DELIMITER //\nCREATE FUNCTION f{number}() RETURNS INT DETERMINISTIC MODIFIES SQL DATA\nBEGIN\n  \
         INSERT INTO log (what) VALUES ('f{number}');\n  RETURN (SELECT COUNT(*) FROM log);\nEND//\nDELIMITER ;\n"
    ));
    script.say(format!("CREATE TABLE made{number} (id INT, n INT)"));
    script.say(format!("INSERT INTO made{number} VALUES (1, f{number}()), (2, f{number}())"));
    script.say("INSERT INTO log (what) VALUES ('after the function')");
    script.say(format!("INSERT INTO made{number} VALUES (3, f{number}()), (4, 0)"));
}

/// Both checks off and an empty table: MariaDB's bulk insert. Its rows are clean, as its errors are not exact.
fn head_of_a_dump(script: &mut Script, number: usize) {
    script.say(format!(
        "CREATE TABLE child{number} (id INT AUTO_INCREMENT PRIMARY KEY, p INT, \
         FOREIGN KEY (p) REFERENCES parent{number} (id))"
    ));
    script.say(
        "SET @unique = @@unique_checks, unique_checks = 0, @foreign = @@foreign_key_checks, foreign_key_checks = 0",
    );
    script.say(format!(
        "CREATE OR REPLACE TABLE child{number} (id INT AUTO_INCREMENT PRIMARY KEY, p INT, \
         FOREIGN KEY (p) REFERENCES parent{number} (id))"
    ));
    for round in 0..script.dice.below(6) + 1 {
        script.say(format!("INSERT INTO child{number} (p) VALUES ({round}), ({round}), (NULL)"));
    }
    script.say(format!("CREATE TABLE parent{number} (id INT PRIMARY KEY, v VARCHAR(10), UNIQUE (v))"));
    for round in 0..script.dice.below(6) + 1 {
        let (first, second) = (round * 2, round * 2 + 1);
        script.say(format!("INSERT INTO parent{number} VALUES ({first}, 'a{round}'), ({second}, 'b{round}')"));
    }
    script.say("SET unique_checks = @unique, foreign_key_checks = @foreign");
    script.say(format!("INSERT INTO child{number} (p) VALUES (0), (1)"));
}
