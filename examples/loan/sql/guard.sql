-- A guard by Arrowproof: the table loans lets through what the lifecycle loan has.
-- Run it again when the lifecycle changes: it takes the place of the guard before.
-- A table that is rebuilt (copied, dropped, renamed) loses its triggers: run it again then, too.
-- SQLite 3.47 or newer; an older one that opens the database cannot read its schema.
BEGIN IMMEDIATE;
DROP TRIGGER IF EXISTS "arrowproof_guard_fill_loans";
DROP TRIGGER IF EXISTS "arrowproof_guard_named_loans";
DROP TRIGGER IF EXISTS "arrowproof_guard_insert_loans";
DROP TRIGGER IF EXISTS "arrowproof_guard_update_loans";
DROP TRIGGER IF EXISTS "arrowproof_guard_delete_loans";
DROP TABLE IF EXISTS "arrowproof_guard_loans";
CREATE TABLE "arrowproof_guard_loans" (key_0, state);
CREATE INDEX "arrowproof_guarded_key_loans" ON "arrowproof_guard_loans" (key_0);
CREATE TRIGGER "arrowproof_guard_fill_loans" BEFORE INSERT ON "arrowproof_guard_loans" BEGIN
  SELECT RAISE(ROLLBACK, 'loans id=' || substr(quote(NEW.key_0), 1, 80) || ': ' || substr(quote(NEW.state), 1, 80) || ' is no state of the lifecycle loan' || '; the guard was not installed') WHERE NOT (typeof(NEW.state) = 'text' AND +NEW.state COLLATE BINARY IN ('lent', 'returned', 'lost'));
END;
CREATE TRIGGER "arrowproof_guard_insert_loans" AFTER INSERT ON "loans" BEGIN
  SELECT RAISE(ABORT, 'loans id=' || substr(quote(key_0), 1, 80) || ': ' || 'created' || ' -> ' || substr(quote(new), 1, 80) || ' is not in the lifecycle loan')
    FROM (SELECT NULL AS old, NEW."status" AS new, NEW."id" AS key_0 WHERE TRUE AND NOT EXISTS (SELECT 1 FROM "arrowproof_guard_loans" WHERE key_0 IS +NEW."id"))
    WHERE NOT (typeof(new) = 'text' AND +new COLLATE BINARY IN ('lent'));
  SELECT RAISE(ABORT, 'loans id=' || substr(quote(key_0), 1, 80) || ': ' || substr(quote(old), 1, 80) || ' -> ' || substr(quote(new), 1, 80) || ' is not in the lifecycle loan')
    FROM (SELECT state AS old, NEW."status" AS new, key_0 AS key_0 FROM "arrowproof_guard_loans" WHERE TRUE AND key_0 IS +NEW."id" AND NOT ((+state IS +NEW."status" COLLATE BINARY AND typeof(state) = typeof(NEW."status"))))
    WHERE NOT ((typeof(old) = 'text' AND +old COLLATE BINARY IN ('lent')) AND (typeof(new) = 'text' AND +new COLLATE BINARY IN ('returned', 'lost')) OR (typeof(old) = 'text' AND +old COLLATE BINARY IN ('lost')) AND (typeof(new) = 'text' AND +new COLLATE BINARY IN ('returned')));
  DELETE FROM "arrowproof_guard_loans" WHERE key_0 IS +NEW."id" AND TRUE;
  INSERT INTO "arrowproof_guard_loans" SELECT bound."id", bound."status" FROM "loans" AS bound WHERE bound."id" IS NEW."id" COLLATE BINARY AND TRUE;
END;
CREATE TRIGGER "arrowproof_guard_update_loans" AFTER UPDATE ON "loans" BEGIN
  SELECT RAISE(ABORT, 'loans id=' || substr(quote(key_0), 1, 80) || ': ' || substr(quote(old), 1, 80) || ' -> ' || 'removed' || ' is not in the lifecycle loan')
    FROM (SELECT OLD."status" AS old, NULL AS new, OLD."id" AS key_0 WHERE NOT (OLD."id" IS NEW."id" COLLATE BINARY))
    WHERE NOT (FALSE);
  DELETE FROM "arrowproof_guard_loans" WHERE key_0 IS +OLD."id" AND NOT (OLD."id" IS NEW."id" COLLATE BINARY);
  SELECT RAISE(ABORT, 'loans id=' || substr(quote(key_0), 1, 80) || ': ' || 'created' || ' -> ' || substr(quote(new), 1, 80) || ' is not in the lifecycle loan')
    FROM (SELECT NULL AS old, NEW."status" AS new, NEW."id" AS key_0 WHERE NOT (OLD."id" IS NEW."id" COLLATE BINARY) AND NOT EXISTS (SELECT 1 FROM "arrowproof_guard_loans" WHERE key_0 IS +NEW."id"))
    WHERE NOT (typeof(new) = 'text' AND +new COLLATE BINARY IN ('lent'));
  SELECT RAISE(ABORT, 'loans id=' || substr(quote(key_0), 1, 80) || ': ' || substr(quote(old), 1, 80) || ' -> ' || substr(quote(new), 1, 80) || ' is not in the lifecycle loan')
    FROM (SELECT state AS old, NEW."status" AS new, key_0 AS key_0 FROM "arrowproof_guard_loans" WHERE NOT (OLD."id" IS NEW."id" COLLATE BINARY) AND key_0 IS +NEW."id" AND NOT ((+state IS +NEW."status" COLLATE BINARY AND typeof(state) = typeof(NEW."status"))))
    WHERE NOT ((typeof(old) = 'text' AND +old COLLATE BINARY IN ('lent')) AND (typeof(new) = 'text' AND +new COLLATE BINARY IN ('returned', 'lost')) OR (typeof(old) = 'text' AND +old COLLATE BINARY IN ('lost')) AND (typeof(new) = 'text' AND +new COLLATE BINARY IN ('returned')));
  DELETE FROM "arrowproof_guard_loans" WHERE key_0 IS +NEW."id" AND NOT (OLD."id" IS NEW."id" COLLATE BINARY);
  INSERT INTO "arrowproof_guard_loans" SELECT bound."id", bound."status" FROM "loans" AS bound WHERE bound."id" IS NEW."id" COLLATE BINARY AND NOT (OLD."id" IS NEW."id" COLLATE BINARY);
  SELECT RAISE(ABORT, 'loans id=' || substr(quote(key_0), 1, 80) || ': ' || substr(quote(old), 1, 80) || ' -> ' || substr(quote(new), 1, 80) || ' is not in the lifecycle loan')
    FROM (SELECT OLD."status" AS old, NEW."status" AS new, NEW."id" AS key_0 WHERE OLD."id" IS NEW."id" COLLATE BINARY AND NOT (+OLD."status" IS +NEW."status" COLLATE BINARY AND typeof(OLD."status") = typeof(NEW."status")))
    WHERE NOT ((typeof(old) = 'text' AND +old COLLATE BINARY IN ('lent')) AND (typeof(new) = 'text' AND +new COLLATE BINARY IN ('returned', 'lost')) OR (typeof(old) = 'text' AND +old COLLATE BINARY IN ('lost')) AND (typeof(new) = 'text' AND +new COLLATE BINARY IN ('returned')));
  UPDATE "arrowproof_guard_loans" SET (state) = (SELECT bound."status" FROM "loans" AS bound WHERE bound."id" IS NEW."id" COLLATE BINARY) WHERE key_0 IS +NEW."id";
END;
CREATE TRIGGER "arrowproof_guard_delete_loans" AFTER DELETE ON "loans" BEGIN
  SELECT RAISE(ABORT, 'loans id=' || substr(quote(key_0), 1, 80) || ': ' || substr(quote(old), 1, 80) || ' -> ' || 'removed' || ' is not in the lifecycle loan')
    FROM (SELECT OLD."status" AS old, NULL AS new, OLD."id" AS key_0 WHERE TRUE)
    WHERE NOT (FALSE);
  DELETE FROM "arrowproof_guard_loans" WHERE key_0 IS +OLD."id";
END;
INSERT INTO "arrowproof_guard_loans" SELECT bound."id", bound."status" FROM "loans" AS bound WHERE TRUE;
DROP TRIGGER "arrowproof_guard_fill_loans";
COMMIT;
