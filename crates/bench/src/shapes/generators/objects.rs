//! A dump of views and routines without rows, as `mariadb-dump --routines` writes it.

use crate::Error;

use super::super::script::Script;
use super::mariadb_dump::{self, Options, footer, header};
use super::tables::{order, order_definition};

/// A view reads the one before it, but for each fifth one, which reads the table.
const CHAIN: u64 = 5;

const SAVE_SESSION: &str = "\
    /*!50003 SET @saved_cs_client      = @@character_set_client */ ;\n\
    /*!50003 SET @saved_cs_results     = @@character_set_results */ ;\n\
    /*!50003 SET @saved_col_connection = @@collation_connection */ ;\n\
    /*!50003 SET character_set_client  = utf8mb4 */ ;\n\
    /*!50003 SET character_set_results = utf8mb4 */ ;\n\
    /*!50003 SET collation_connection  = utf8mb4_general_ci */ ;\n";

const RESTORE_SESSION: &str = "\
    /*!50003 SET sql_mode              = @saved_sql_mode */ ;\n\
    /*!50003 SET character_set_client  = @saved_cs_client */ ;\n\
    /*!50003 SET character_set_results = @saved_cs_results */ ;\n\
    /*!50003 SET collation_connection  = @saved_col_connection */ ;\n";

/// 300 views on views, 100 functions, 100 procedures.
pub(in super::super) fn views_and_routines(script: &mut Script) -> Result<(), Error> {
    let (views, routines) = (script.count(300), script.count(100));
    header(script)?;
    let table = ("orders", order_definition("orders", "InnoDB"));
    mariadb_dump::table(script, Options::default(), (table.0, &table.1), std::iter::empty(), order)?;
    (0..views).try_for_each(|number| temporary_view(script, number))?;
    script.text("\n--\n-- Dumping routines for database 'bench'\n--\n")?;
    (0..routines).try_for_each(|number| function(script, number))?;
    (0..routines).try_for_each(|number| procedure(script, number))?;
    (0..views).try_for_each(|number| final_view(script, number))?;
    footer(script)
}

/// A stand-in with the view's columns, so that views which read it can be created in any order.
fn temporary_view(script: &mut Script, number: u64) -> Result<(), Error> {
    let name = format!("view_{number:05}");
    script.lines(&format!(
        "\n--\n-- Temporary table structure for view `{name}`\n--\n\nDROP TABLE IF EXISTS `{name}`;\n\
         /*!50001 DROP VIEW IF EXISTS `{name}`*/;\nSET @saved_cs_client     = @@character_set_client;\n\
         SET character_set_client = utf8mb4;\n/*!50001 CREATE VIEW `{name}` AS SELECT\n NULL AS `id`,\n \
         NULL AS `customer_id`,\n NULL AS `total` */;\nSET character_set_client = @saved_cs_client;\n"
    ))
}

fn final_view(script: &mut Script, number: u64) -> Result<(), Error> {
    let name = format!("view_{number:05}");
    let source = if number.is_multiple_of(CHAIN) { "orders".to_owned() } else { format!("view_{:05}", number - 1) };
    let limit = script.random.below(1_000);
    script.lines(&format!(
        "\n--\n-- Final view structure for view `{name}`\n--\n\n/*!50001 DROP VIEW IF EXISTS `{name}`*/;\n\
         /*!50001 SET @saved_cs_client          = @@character_set_client */;\n\
         /*!50001 SET @saved_cs_results         = @@character_set_results */;\n\
         /*!50001 SET @saved_col_connection     = @@collation_connection */;\n\
         /*!50001 SET character_set_client      = utf8mb4 */;\n\
         /*!50001 SET character_set_results     = utf8mb4 */;\n\
         /*!50001 SET collation_connection      = utf8mb4_general_ci */;\n/*!50001 CREATE ALGORITHM=UNDEFINED */\n\
         /*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */\n/*!50001 VIEW `{name}` AS \
         select `{source}`.`id` AS `id`,`{source}`.`customer_id` AS `customer_id`,`{source}`.`total` AS `total` \
         from `{source}` where `{source}`.`total` > {limit} */;\n\
         /*!50001 SET character_set_client      = @saved_cs_client */;\n\
         /*!50001 SET character_set_results     = @saved_cs_results */;\n\
         /*!50001 SET collation_connection      = @saved_col_connection */;\n"
    ))
}

fn function(script: &mut Script, number: u64) -> Result<(), Error> {
    let factor = script.random.between(2, 99);
    let name = format!("function_{number:05}");
    let text = format!(
        "CREATE DEFINER=`root`@`localhost` FUNCTION `{name}`(amount INT) RETURNS int(11)\n    READS SQL DATA\nBEGIN\n  \
         DECLARE result INT DEFAULT 0;\n  SELECT COUNT(*) INTO result FROM orders WHERE customer_id = amount;\n  \
         IF result > {factor} THEN SET result = {factor}; END IF;\n  RETURN result * {factor};\nEND"
    );
    routine(script, "FUNCTION", &name, &text)
}

fn procedure(script: &mut Script, number: u64) -> Result<(), Error> {
    let days = script.random.between(2, 99);
    let name = format!("procedure_{number:05}");
    let text = format!(
        "CREATE DEFINER=`root`@`localhost` PROCEDURE `{name}`(IN first INT, OUT changed INT)\nBEGIN\n  \
         DECLARE position INT DEFAULT first;\n  SET changed = 0;\n  WHILE position < first + {days} DO\n    \
         UPDATE orders SET state = 'sent' WHERE id = position;\n    SET changed = changed + ROW_COUNT();\n    \
         SET position = position + 1;\n  END WHILE;\nEND"
    );
    routine(script, "PROCEDURE", &name, &text)
}

fn routine(script: &mut Script, kind: &str, name: &str, text: &str) -> Result<(), Error> {
    script.lines(&format!(
        "/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;\n/*!50003 SET sql_mode              = \
         'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;\n\
         /*!50003 DROP {kind} IF EXISTS `{name}` */;\n{SAVE_SESSION}"
    ))?;
    script.text(format!("DELIMITER ;;\n{text} ;;\nDELIMITER "))?;
    script.text(";\n")?;
    script.lines(RESTORE_SESSION)
}
