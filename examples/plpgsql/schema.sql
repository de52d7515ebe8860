-- Payments, which nobody writes but these functions. Each says which transitions it makes, and names the states that it
-- leaves. Run it once, on an empty database.

CREATE TYPE payment_state AS ENUM ('requested', 'capturing', 'captured', 'refunded', 'declined', 'cancelled');

CREATE TABLE payments (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant text NOT NULL,
    amount integer NOT NULL CHECK (amount > 0),
    refunded integer NOT NULL DEFAULT 0 CHECK (refunded BETWEEN 0 AND amount),
    state payment_state NOT NULL DEFAULT 'requested',
    tries integer NOT NULL DEFAULT 0,
    max_tries integer NOT NULL CHECK (tries <= max_tries),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX payments_requested ON payments (merchant, id) WHERE state = 'requested';

CREATE TABLE payment_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment bigint NOT NULL REFERENCES payments,
    state payment_state NOT NULL,
    refunded integer NOT NULL
);

CREATE FUNCTION stamp_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER stamp BEFORE UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION stamp_payment();

CREATE FUNCTION write_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payment_events (payment, state, refunded) VALUES (NEW.id, NEW.state, NEW.refunded);
    RETURN NULL;
END $$;

CREATE TRIGGER history AFTER INSERT OR UPDATE OF state ON payments FOR EACH ROW EXECUTE FUNCTION write_history();

-- created -> requested
CREATE FUNCTION request_payment(of_merchant text, of_amount integer, with_tries integer DEFAULT 3) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    made bigint;
BEGIN
    INSERT INTO payments (merchant, amount, max_tries) VALUES (of_merchant, of_amount, with_tries)
    RETURNING id INTO made;
    RETURN made;
END $$;

-- requested -> capturing: the merchant's oldest that nobody else is claiming; NULL when there is none
CREATE FUNCTION claim_payment(of_merchant text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    found_id bigint;
BEGIN
    SELECT id INTO found_id FROM payments
    WHERE merchant = of_merchant AND state = 'requested'
    ORDER BY id LIMIT 1
    FOR UPDATE SKIP LOCKED;
    UPDATE payments SET state = 'capturing', tries = tries + 1 WHERE id = found_id AND state = 'requested';
    RETURN found_id;
END $$;

-- capturing -> captured or declined, as the bank answered; NULL when the payment was not being captured
CREATE FUNCTION settle_payment(of_payment bigint, is_accepted boolean) RETURNS payment_state
LANGUAGE plpgsql AS $$
DECLARE
    made payment_state;
BEGIN
    IF is_accepted THEN
        UPDATE payments SET state = 'captured' WHERE id = of_payment AND state = 'capturing' RETURNING state INTO made;
    ELSE
        UPDATE payments SET state = 'declined' WHERE id = of_payment AND state = 'capturing' RETURNING state INTO made;
    END IF;
    RETURN made;
END $$;

-- capturing -> requested while there are tries left, capturing -> declined after the last: the bank did not answer
CREATE FUNCTION miss_answer(of_payment bigint) RETURNS payment_state
LANGUAGE plpgsql AS $$
DECLARE
    seen payments%ROWTYPE;
BEGIN
    SELECT * INTO seen FROM payments WHERE id = of_payment AND state = 'capturing' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF seen.tries < seen.max_tries THEN
        UPDATE payments SET state = 'requested' WHERE id = seen.id AND state = 'capturing';
        RETURN 'requested';
    END IF;
    UPDATE payments SET state = 'declined' WHERE id = seen.id AND state = 'capturing';
    RETURN 'declined';
END $$;

-- requested -> cancelled
CREATE FUNCTION cancel_payment(of_payment bigint) RETURNS payment_state
LANGUAGE sql AS $$
    UPDATE payments SET state = 'cancelled' WHERE id = of_payment AND state = 'requested' RETURNING state;
$$;

-- captured -> captured for a part, captured -> refunded for all that is left; NULL for more than that
CREATE FUNCTION refund_payment(of_payment bigint, part integer) RETURNS payment_state
LANGUAGE plpgsql AS $$
DECLARE
    made payment_state;
BEGIN
    UPDATE payments
    SET refunded = refunded + part,
        state = CASE WHEN refunded + part = amount THEN 'refunded'::payment_state ELSE 'captured' END
    WHERE id = of_payment AND state = 'captured' AND part > 0 AND refunded + part <= amount
    RETURNING state INTO made;
    RETURN made;
END $$;
