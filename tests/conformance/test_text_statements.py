"""SQL in the string literals of a language, told from comments, from prose and from code."""

from __future__ import annotations

import pytest

from arrowproof.model.lifecycle import Dialect
from tests.conformance.extractions import found, lines

# Each file holds the same two statements in the forms of its language, and one in a comment that does not count.
FILES = {
    "a.ts": r"""
        // it's UPDATE jobs SET status = 'no'
        /* DELETE FROM jobs */
        const pattern = /["'`]/g
        await db.query(`
          UPDATE jobs SET status = '${next}'
           WHERE id = ${job.ids.map((id) => `'${id}'`).join("}")}`)
        await db.query("DELETE FROM jobs " + 'WHERE id = ' + id)
    """,
    "a.go": """
        // it's UPDATE jobs SET status = 'no'
        const quote = '"'

        const update = `
          UPDATE jobs SET status = '%s'
           WHERE id = $1`
        db.Exec("DELETE FROM jobs " + "WHERE id = " + id)
    """,
    "a.rb": """
        =begin
        DELETE FROM jobs WHERE id = 1
        =end
        db.execute(<<~SQL, job) # it's UPDATE jobs SET status = 'no'
          UPDATE jobs SET status = '#{status}' WHERE id = ?
        SQL
        db.execute "DELETE FROM jobs WHERE id = #{ids["a"]}"
    """,
    "A.java": r'''
        /* it's UPDATE jobs SET status = 'no' */
        char quote = '"'; char other = '\'';
        static final String TABLE = "jobs";
        String update = """
            UPDATE jobs SET status = ? WHERE id = ?""";

        String remove = "DELETE FROM " + TABLE + " WHERE id = " + id;
    ''',
    "a.kt": '''
        // it's UPDATE jobs SET status = 'no'


        val update = """
            UPDATE jobs SET status = '$status' WHERE id = ${job.id}
        """
        val remove = "DELETE FROM jobs WHERE id = $id"
    ''',
    "a.ex": '''
        # it's UPDATE jobs SET status = 'no'


        Repo.query!("""
          UPDATE jobs SET status = '#{status}' WHERE id = $1
        """)
        Repo.query!(~s|DELETE FROM jobs WHERE id = #{id}|)
    ''',
    "a.php": """<?php
        // it's UPDATE jobs SET status = 'no'
        # DELETE FROM jobs

        $db->query(<<<SQL
          UPDATE jobs SET status = '{$job->status}' WHERE id = $id
        SQL);
        $db->query('DELETE FROM jobs WHERE id = ' . $id);
    """,
    "a.rs": """
        // it's UPDATE jobs SET status = 'no'
        fn first<'a>(name: &'a str, quote: char) -> bool { quote == '"' }


        sqlx::query!(r#"UPDATE jobs SET "status" = $1 WHERE id = $2"#);

        sqlx::query("DELETE FROM jobs WHERE id = ?");
    """,
    "a.cs": """
        // it's UPDATE jobs SET status = 'no'
        var quote = '"';


        var update = $"UPDATE jobs SET status = '{status}' WHERE id = {id}";

        var remove = @"DELETE FROM ""jobs"" WHERE id = @id";
    """,
    "a.sh": """
        # it's UPDATE jobs SET status = 'no'


        psql <<EOF
        UPDATE jobs SET status = '$1' WHERE id = ${id};
        EOF
        psql -c "DELETE FROM jobs WHERE id = $id"
    """,
}


@pytest.mark.parametrize("file", FILES)
def test_the_statements_of_every_language_are_found_with_their_lines_and_its_comments_are_not(file: str) -> None:
    statements = found(file, FILES[file])
    assert [each.problem for each in statements] == [None, None]
    assert [each.place.line for each in statements] == [6, 8]
    assert [each.word(0) for each in statements] == ["UPDATE", "DELETE"]


def test_a_hole_inside_of_a_literal_is_shown_as_it_is_and_read_as_a_parameter() -> None:
    (update,) = found("a.ts", "db.query(`UPDATE jobs SET status = 'x-${state}' WHERE id = ${id}`)")
    assert update.sql == "UPDATE jobs SET status = 'x-{state}' WHERE id = {id}"
    assert [token.kind.value for token in update.tokens if token.text == "$1"] == ["parameter"] * 2


@pytest.mark.parametrize("placeholder", ["?", "?1", ":id", "@id", "$1", "%s", "%(id)s", "{id}", "{}", "${id}"])
@pytest.mark.parametrize("dialect", Dialect)
def test_the_placeholder_of_every_driver_is_a_parameter(placeholder: str, dialect: Dialect) -> None:
    if (placeholder, dialect) in ((("?1"), Dialect.MYSQL), ("$1", Dialect.MYSQL)):
        return  # no driver of MySQL has these
    (delete,) = found("a.ts", f"db.query(`DELETE FROM jobs WHERE id = {placeholder}`)", dialect)
    assert [token.kind.value for token in delete.tokens][-1] == "parameter"
    assert delete.problem is None


@pytest.mark.parametrize(
    "code",
    [
        'label("Update jobs")',
        'log("failed to delete from jobs: " + error)',
        'throw new Error("Update jobs set up by hand")',
        'log("please insert into jobs by hand")',
        "fetch(url, { method: 'DELETE' }); import { jobs } from './jobs'",
        'help("run: UPDATE jobs SET status = 1")',
        "db.query('DELETE FROM jobs_archive')",
        "db.query(`UPDATE jobs_${day} SET a = 1`)",
        "db.query('DELETE FROM notes WHERE job = ' + jobs)",
    ],
)
def test_prose_and_other_tables_are_no_statements(code: str) -> None:
    assert lines("a.ts", code) == []


@pytest.mark.parametrize(
    ("file", "code", "reason"),
    [
        ("a.ts", "db.query(`UPDATE ${table} SET status = 'a'`)", "its table is {table}"),
        ("a.ts", "db.query(`DELETE FROM ${schema}.${table}`)", "its table is {schema}.{table}"),
        ("a.ts", "db.query('UPDATE ' + table + ' SET a = 1')", "its table is {table}"),
        ("a.go", 'db.Exec(fmt.Sprintf("UPDATE %s SET a = 1", name))', "its table is {name}"),
        ("a.ts", "knex.raw('update ?? set status = ?', [table, 1])", "its table is ??"),
        ("a.rb", 'format("DELETE FROM %{table} WHERE id = 1", table: table)', "its table is %{table}"),
        ("a.ts", "db.query(`UPDATE jobs SET a = 1 ${where}`)", "{where} stands for more than one value"),
        ("a.ts", "db.query(`UPDATE jobs SET ${column} = 1`)", ""),
        ("a.ts", "q(`DELETE FROM jobs WHERE id IN (SELECT 1 FOR UPDATE ${lock})`)", "{lock} stands for more than one"),
        ("a.ts", "db.query(`UPDATE jobs SET ${sets} WHERE id = 1`)", "{sets} stands for more than one value"),
        ("a.ts", "let q = 'DELETE FROM jobs'; if (id) q += ' WHERE id = 1'", "what is added to q"),
        ("a.java", 'sql.append("DELETE FROM jobs"); sql.append(" WHERE id = 1");', "what is added to the builder"),
        ("a.ts", "db.query(`DELETE FROM jobs WHERE a = 1 AND ${more}`)", "put it in parentheses"),
        ("a.ts", "db.query(`DELETE FROM jobs WHERE NOT ${more}`)", "put it in parentheses"),
    ],
)
def test_a_hole_that_hides_more_than_a_value_is_undecided(file: str, code: str, reason: str) -> None:
    (statement,) = found(file, code)
    if reason:
        assert reason in (statement.problem or "")


def test_a_condition_in_a_hole_of_its_own_counts_as_one_that_may_hold() -> None:
    assert lines("a.ts", "db.query(`DELETE FROM jobs WHERE a = 1 AND (${more})`)") == [
        "1: DELETE FROM jobs WHERE a = 1 AND ({more})"
    ]
    assert lines("a.ts", "db.query(`DELETE FROM jobs WHERE ${all}`)") == ["1: DELETE FROM jobs WHERE {all}"]


def test_a_name_that_the_file_binds_once_to_a_literal_stands_for_it() -> None:
    code = """
        const TABLE = 'jobs'
        const States = Object.freeze({ done: 'completed', waiting: 'pending' })
        enum Kind { Fast = 'fast' }
        db.query(`UPDATE ${TABLE} SET status = '${States.done}', kind = '${Kind.Fast}' WHERE status = '${state}'`)
    """
    assert lines("a.ts", code) == ["5: UPDATE jobs SET status = 'completed', kind = 'fast' WHERE status = '{state}'"]
    assert "its table is {TABLE}" in lines("a.ts", code + "\nTABLE = 'notes'")[0]


def test_a_schema_that_a_hole_hides_hides_nothing() -> None:
    (delete,) = found("a.ts", "db.query(`DELETE FROM ${schema}.jobs WHERE id = $1`)", Dialect.POSTGRESQL)
    assert (delete.sql, delete.problem) == ("DELETE FROM {schema}.jobs WHERE id = $1", None)
    assert [token.text for token in delete.tokens][:3] == ["DELETE", "FROM", "jobs"]


def test_two_statements_of_one_literal_have_their_own_lines() -> None:
    code = "q(`\n  -- first\n  DELETE FROM jobs;\n\n  UPDATE jobs\n  SET a = 1`)\n"
    code += 'q("DELETE\\nFROM\\njobs; UPDATE jobs SET a = 2")'
    assert [each.place.line for each in found("a.ts", code)] == [3, 5, 7, 7]


def test_what_looks_like_a_statement_outside_of_every_literal_is_undecided_at_its_place() -> None:
    (statement,) = found("mapper.xml", "<mapper>\n<update>\n  UPDATE jobs SET status = 'a'\n</update></mapper>")
    assert (statement.place.line, statement.sql) == (3, "UPDATE jobs SET status = 'a'")
    assert "the literals of this kind of file are not known" in (statement.problem or "")
    (statement,) = found("a.java", "/** q */\nrun(<<UPDATE jobs SET a = 1>>);")
    assert (statement.place.line, "in no string literal" in (statement.problem or "")) == (2, True)


def test_each_statement_of_a_mapper_is_undecided_also_behind_a_hole_or_without_a_set() -> None:
    mapper = """
        <update>UPDATE jobs <set><if test="a">status = #{a}</if></set></update>
        <delete>delete from jobs where id = #{id}</delete>
        <update>update ${table} set status = 'a'</update>
        <update>update notes set ${columns}</update>
        <delete>delete from jobs <where>id = #{id}</where></delete>
        <select>select a from jobs where id = #{id}</select>
    """
    assert [int(line.partition(":")[0]) for line in lines("mapper.xml", mapper)] == [2, 3, 4, 6]
    java = '@Update("<script>UPDATE jobs <set>status = #{a}</set></script>") int a();'
    assert "UPDATE jobs <set>" in lines("A.java", java)[0]


def test_a_verb_that_is_a_hole_is_undecided_and_prose_is_not() -> None:
    for file, code in {
        "a.ts": "db.query(`${verb} FROM jobs WHERE id = $1`)",
        "a.go": 'db.Exec(fmt.Sprintf("%s jobs SET status = $1", verb))',
        "a.rb": 'exec("#{verb} INTO jobs (id) VALUES (1)")',
    }.items():
        (line,) = lines(file, code)
        assert "its verb is" in line
    assert lines("a.go", 'log.Printf("%d jobs from %s", n, q); log.Printf("%d from jobs", n)') == []


@pytest.mark.parametrize(
    ("file", "code", "line"),
    [
        ("a.ts", 'log(`removed\n  ${await db.run("DELETE FROM jobs")} jobs`)', 2),
        ("a.sh", 'n="$(psql -c "DELETE FROM jobs" | wc -l)"', 1),
        ("a.sh", "run \"$(cat <<'SQL'\nDELETE FROM jobs;\nSQL\n)\"", 2),
        ("a.rb", 'puts "#{db.exec("DELETE FROM jobs").count} removed"', 1),
        ("a.kt", 'println("${db.run("DELETE FROM jobs")} removed")', 1),
    ],
)
def test_a_literal_in_the_hole_of_another_is_read(file: str, code: str, line: int) -> None:
    assert lines(file, code) == [f"{line}: DELETE FROM jobs"]


def test_escapes_of_a_file_of_no_known_language_are_white_space_and_quotes() -> None:
    code = r"""
        {"a": "UPDATE jobs\nSET status = 'done'", "b": "UPDATE \"jobs\" SET \"status\" = 1",
         "c": "DELETE FROM\tjobs\nWHERE id = 1"}
    """.replace(r"\\", "\\")
    assert [int(line.partition(":")[0]) for line in lines("a.json", code)] == [2, 2, 3]


def test_what_the_shell_of_a_database_copies_in_from_within_code_is_undecided() -> None:
    code = r"""
        psql <<'SQL'
          DELETE FROM jobs WHERE id = 1;
          \copy jobs FROM 'a.csv'
          \copy notes FROM 'a.csv'
        SQL
    """
    first, second = lines("a.sh", code, Dialect.POSTGRESQL)
    assert first == "3: DELETE FROM jobs WHERE id = 1"
    assert second.startswith("4: \\copy jobs FROM 'a.csv' (a command of the psql shell")


@pytest.mark.parametrize("text", ["`${" * 20_000, "'" * 100_001, "<<A " * 20_000, '"${a(' * 20_000, "/*" * 50_000])
@pytest.mark.parametrize("file", ["a.ts", "a.rb", "a.kt", "a.php"])
@pytest.mark.timeout(60)
def test_hostile_code_takes_time_in_proportion_to_its_length(file: str, text: str) -> None:
    assert lines(file, "jobs " + text) == []
