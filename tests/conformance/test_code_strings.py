"""What a program makes of its strings: constants ahead, lists, formats, builders, and the names of its scopes."""

from __future__ import annotations

import pytest

from arrowproof.model.lifecycle import Dialect
from tests.conformance.extractions import extract, found, lines

WHOLE = "UPDATE jobs SET a = 1, status = 'done'"

FOLLOWED = {
    "a constant ahead": ("a.go", 'const base = "UPDATE jobs SET a = 1"\nf(base + ", status = \'done\'")'),
    "constants on both sides": (
        "a.go",
        'const (\n base = `UPDATE jobs SET `\n end = ", status = \'done\'"\n)\nf(base + "a = 1" + end)',
    ),
    "names alone": ("a.ts", "const a = 'UPDATE jobs SET a = 1'\nconst b = `, status = 'done'`\nf(a + b)"),
    "a member": (
        "A.java",
        'class A { static final String B = "UPDATE jobs SET a = 1"; void f() { q(A.B + ", status = \'done\'"); } }',
    ),
    "an attribute": ("a.ex", '@base "UPDATE jobs SET a = 1"\ndef f, do: q(@base <> ", status = \'done\'")'),
    "a macro": ("a.c", '#define END ", status = \'done\'"\nq("UPDATE jobs SET " "a = 1" END);'),
    "a companion": (
        "a.kt",
        "class A {\n fun f() = q(\"$B, status = 'done'\")\n"
        ' companion object { private const val B = "UPDATE jobs SET a = 1" }\n}',
    ),
    "a class constant": (
        "a.php",
        '<?php class A { const B = "UPDATE jobs SET a = 1"; function f() { q(self::B . ", status = \'done\'"); } }',
    ),
    "a joined list": ("a.js", "q(['UPDATE jobs SET a = 1', `status = 'done'`,].join(', '))"),
    "String.join": ("A.java", 'q(String.join(", ", "UPDATE jobs SET a = 1", "status = \'done\'"));'),
    "strings.Join": ("a.go", 'q(strings.Join([]string{"UPDATE jobs SET a = 1", "status = \'done\'"}, ", "))'),
    "implode": ("a.php", '<?php q(implode(", ", ["UPDATE jobs SET a = 1", "status = \'done\'"]));'),
    "concat!": ("a.rs", 'q(concat!("UPDATE jobs SET a = 1", ", status = \'done\'"))'),
    "concat()": ("a.js", "q('UPDATE jobs SET a = 1'.concat(`, status = 'done'`))"),
    "a chain of calls": (
        "A.java",
        'q(new StringBuilder("UPDATE jobs SET ").append("a = 1").append(", status = \'done\'").toString());',
    ),
    "String.format": ("A.java", 'q(String.format("UPDATE %s SET a = 1, status = \'%s\'", "jobs", "done"));'),
    "Sprintf": ("a.go", 'const t = "jobs"\nq(fmt.Sprintf("UPDATE %[1]s SET a = 1, status = \'done\'", t))'),
    "format!": ("a.rs", 'const T: &str = "jobs";\nq(format!("UPDATE {T} SET a = {}, status = \'done\'", 1))'),
    "a percent sign": ("a.rb", "q(\"UPDATE %s SET a = 1, status = '%s'\" % ['jobs', 'done'])"),
    "replace": ("a.ts", "q(\"UPDATE _t SET a = 1, status = 'done'\".replace('_t', 'jobs'))"),
    "a margin": ("a.scala", 'q("""UPDATE jobs\n   |SET a = 1, status = \'done\'""".stripMargin)'),
    "PHP behind HTML": (
        "a.php",
        "<p>It's</p>\n<?php // isn't ?><p>don't</p>\n<?php q(\"UPDATE jobs SET a = 1, status = 'done'\");",
    ),
    "text between tags": ("a.tsx", "<p>Don't {q(\"UPDATE jobs SET a = 1, status = 'done'\")}</p>"),
    "behind a heredoc": ("a.php", "<?php q(<<<A\nUPDATE jobs SET a = 1\nA . \", status = 'done'\");"),
    "a pattern that is a word": ("a.js", "q(\"UPDATE jobs SET a = 1, x = 'done'\".replace(/x/g, 'status'))"),
    "a fragment of a tag": ("a.ts", "const a = sql`UPDATE jobs SET a = 1`\nq(sql`${a}, status = 'done'`)"),
    "a raw string of Swift": ("a.swift", "q(#\"UPDATE jobs SET a = 1, status = 'done'\"#)"),
}


@pytest.mark.parametrize("case", FOLLOWED)
def test_a_statement_that_is_put_together_on_the_spot_is_read_whole(case: str) -> None:
    file, code = FOLLOWED[case]
    found = [line.partition(": ")[2].replace(" ,", ",") for line in lines(file, code)]
    expected = WHOLE.replace("a = 1", "a = {1}") if case == "format!" else WHOLE
    assert found == [expected]


OPEN = {
    "an empty builder": ("A.java", 'b.append("UPDATE jobs").append(" SET status = \'done\'");'),
    "a builder": ("A.java", 'var b = new StringBuilder("UPDATE jobs SET a = 1");\nb.append(", status = \'done\'");'),
    "a format into a builder": ("a.go", 'fmt.Fprintf(&b, "UPDATE jobs SET a = 1")\nb.WriteString(x)'),
    "a stream": ("a.cpp", 'out << "UPDATE jobs SET a = 1";\nout << x;'),
    "a buffer": ("a.c", 'snprintf(q, n, "UPDATE jobs SET a = 1");\nstrcat(q, x);'),
    "a list that is pushed to": ("a.js", "const a = ['UPDATE jobs SET a = 1']\na.push(x)\nq(a.join(' '))"),
    "a unary plus": ("a.rb", 'q = +"UPDATE jobs SET a = 1"\nq << x'),
    "an owned string": ("a.rs", 'let mut q = String::from("UPDATE jobs SET a = 1");\nq.push_str(x);'),
    "an iolist": ("a.ex", 'q(["UPDATE jobs SET a = 1", ", status = \'done\'"])'),
    "a name ahead": ("a.ts", "q(`${update} SET status = 'done' WHERE id = 1 /* jobs */`)"),
    "a list of parts": ("a.ts", "/* jobs */ const set = [`, status = 'done'`]"),
    "a cut head": ("a.ts", "export const head = 'UPDATE jobs SET '"),
    "a call between": ("a.ts", "const a = 'UPDATE jobs SET a = 1'\nq(f(a) + `, status = 'done'`)"),
    "fragments": ("a.scala", 'val a = fr"UPDATE jobs SET a = 1"\nq(a ++ more)'),
    "an iolist with a call": ("a.ex", 'q(["UPDATE jobs SET a = 1", more()])'),
    "a string that is cut": ("a.js", "q(\"UPDATE jobs SET status = 'done' WHERE id = 1\".slice(0, n))"),
}


@pytest.mark.parametrize("case", OPEN)
def test_a_statement_that_is_given_more_elsewhere_is_undecided(case: str) -> None:
    assert any("(" in line and line.endswith(")") for line in lines(*OPEN[case])), lines(*OPEN[case])


SHADOWED = [
    ("a.ts", "const T = 'notes'\nfunction f(T) { q(`DELETE FROM ${T}`) }"),
    ("a.ts", "const T = 'notes'\nconst f = async ({ T, id }: O): Promise<void> => { q(`DELETE FROM ${T}`) }"),
    ("a.ts", "const T = 'notes'\nclass A { async f(T: string) { q(`DELETE FROM ${T}`) } }"),
    ("a.ts", "const T = 'notes'\nfor (const T of all) q(`DELETE FROM ${T}`)"),
    ("a.ts", "let T = 'notes'\nif (x) T = 'jobs'\nq(`DELETE FROM ${T}`)"),
    ("a.ts", "class A { protected t = 'notes'; f() { q(`DELETE FROM ${this.t}`) } }"),
    ("a.go", 'const t = "notes"\nfunc f(a int, t string) { q("DELETE FROM " + t) }'),
    ("a.go", 'const t = "notes"\nfunc f() { for _, t := range all { q("DELETE FROM " + t) } }'),
    ("A.java", 'class A { static final String T = "notes"; void f(String T) { q("DELETE FROM " + T); } }'),
    ("A.java", 'class A { static final String T = "notes"; void f() { a.each(T -> q("DELETE FROM " + T)); } }'),
    ("a.kt", 'const val t = "notes"\nfun g() = all.map { t -> q("DELETE FROM $t") }'),
    ("a.rs", 'const T: &str = "notes";\nfn f(T: &str) { q(format!("DELETE FROM {T}")); }'),
    ("a.rb", 'T = "notes"\nall.each do |T|\n q "DELETE FROM #{T}"\nend'),
    ("a.php", "<?php $t = 'notes'; function f($t) { q(\"DELETE FROM $t\"); }"),
    ("a.php", "<?php class A { const T = 'notes'; function f() { q('DELETE FROM ' . static::T); } }"),
    ("a.sh", 'T="notes"\nread T\npsql -c "DELETE FROM $T"'),
    ("a.ts", "const o = { t: 'notes' }\no.t = x\nq(`DELETE FROM ${o.t}`)"),
    ("a.go", 'var t = "notes"\nfunc init() { flag.StringVar(&t, "t", "", "") }\nfunc f() { q("DELETE FROM " + t) }'),
    ("a.cs", 'string t = "notes"; Fill(ref t); q($"DELETE FROM {t}");'),
    ("a.rs", 'fn f() { let mut t = "notes"; fill(&mut t); q(&format!("DELETE FROM {t}")); }'),
    ("A.java", 'class A { String t = "notes"; A(String x) { this.t = x; } void f() { q("DELETE FROM " + t); } }'),
    ("a.php", '<?php q("DELETE FROM $t[notes] WHERE id = 1");'),
    ("a.pl", 'f("DELETE FROM $t->{notes} WHERE id = 1");'),
    ("a.pl", 'f("DELETE FROM @{[ table() ]} WHERE id = 1");'),
]


@pytest.mark.parametrize(("file", "code"), SHADOWED)
def test_a_name_that_is_bound_anew_is_not_the_constant_of_the_file(file: str, code: str) -> None:
    (line,) = lines(file, f"{code}\n")
    assert "its table is" in line


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("a.rs", 'const T: &str = "jobs";\nfn f() { q(&T); q(&format!("DELETE FROM {}", T)); }'),
        ("a.go", 'const t = "jobs"\nfunc f() { q(a & t); q("DELETE FROM " + t) }'),
        (
            "A.java",
            'class A { static final String T = "jobs"; A(B b) { b.T = 1; } void f() { q("DELETE FROM " + T); } }',
        ),
        ("a.ts", "const o = { t: 'jobs' }\nq(`DELETE FROM ${o.t}`)"),
    ],
)
def test_a_constant_is_followed_whatever_looks_at_it(file: str, code: str) -> None:
    (line,) = lines(file, code)
    assert line.endswith(": DELETE FROM jobs")


def test_an_index_of_an_array_is_a_part_of_its_hole() -> None:
    (line,) = lines("a.php", "<?php q(\"UPDATE jobs SET a = $p[a], b = '$p[b]' WHERE id = $p[id]\");")
    assert line == "1: UPDATE jobs SET a = {p[a]}, b = '{p[b]}' WHERE id = {p[id]}"


def test_a_list_from_which_what_is_none_is_taken_is_joined_of_all_that_is_left() -> None:
    code = "q(['UPDATE jobs SET a = 1', x && y].filter(Boolean).join(', '))"
    assert lines("a.js", code) == ["1: UPDATE jobs SET a = 1, {x && y}"]


def test_a_statement_is_found_in_a_script_of_mybatis() -> None:
    (line,) = lines("A.java", '@Update("<script>UPDATE jobs SET a = 1 <where>id = 1</where></script>") int f();')
    assert "UPDATE jobs SET a = 1" in line


def test_the_same_name_in_two_scopes_is_each_of_its_own() -> None:
    code = (
        'func f() { const t = "notes"; q("DELETE FROM " + t) }\nfunc g() { const t = "jobs"; q("DELETE FROM " + t) }\n'
    )
    assert lines("a.go", code) == ["2: DELETE FROM jobs"]


def test_a_string_that_is_only_a_part_of_others_is_no_statement_unless_another_file_may_take_it() -> None:
    code = 'const all = "DELETE FROM jobs"\nq(all + " WHERE id = 1")\n'
    assert lines("a.ts", code) == ["2: DELETE FROM jobs WHERE id = 1"]
    assert lines("a.ts", f"export {code}") == ["1: DELETE FROM jobs", "2: DELETE FROM jobs WHERE id = 1"]
    assert lines("a.ts", f"{code}q(all)") == ["1: DELETE FROM jobs", "2: DELETE FROM jobs WHERE id = 1"]


def test_a_comment_swallows_what_follows_where_the_lines_are_joined() -> None:
    code = "q(<<~SQL.squish)\n  DELETE FROM jobs -- all\n  WHERE id = 1\nSQL\n"
    (swallowed,) = extract({"a.rb": code}).statements
    (read,) = extract({"a.rb": code.replace(".squish", "")}).statements
    assert [token.text for token in swallowed.tokens if token.kind.value != "comment"] == ["DELETE", "FROM", "jobs"]
    assert read.tokens[-1].text == "1"


@pytest.mark.parametrize(
    "code",
    [
        "log('and then', 'set status = %s', status); jobs()",
        "const conditions = [`AND status = 'done'`, `status = 'done'`]; jobs()",
        "q('UPDATE jobs SET a = 1 WHERE id = ?', 'from')",
        "const all = ['UPDATE jobs SET a = 1', 'DELETE FROM notes']",
    ],
)
def test_prose_conditions_and_lists_of_statements_are_no_parts_of_one(code: str) -> None:
    assert not any(line.endswith(")") for line in lines("a.ts", code))


def test_a_position_of_the_shell_is_what_the_program_fills_in() -> None:
    (update,) = extract({"a.sh": "psql <<E\nUPDATE jobs SET status = '$1'\nE\n"}, Dialect.POSTGRESQL).statements
    assert update.tokens[-1].kind.value == "parameter"


@pytest.mark.parametrize(
    "declared",
    [
        'const (\n\tDone State = "x"\n\tOpen State = "y"\n)',
        'const Done db.State = "x"',
        'var Done string = "x"',
        'const Done = "x"',
    ],
)
def test_a_constant_of_go_may_have_a_type_of_its_own(declared: str) -> None:
    run = "func f() { db.Exec(fmt.Sprintf(`DELETE FROM jobs WHERE s = '%s'`, Done)) }"
    assert [each.sql for each in found("a.go", f"{declared}\n{run}")] == ["DELETE FROM jobs WHERE s = 'x'"]
    cast = """func f() { db.Exec("DELETE FROM jobs WHERE s = '" + string(Done) + "'") }"""
    assert [each.sql for each in found("a.go", f"{declared}\n{cast}")] == ["DELETE FROM jobs WHERE s = 'x'"]


def test_a_variable_of_go_with_a_type_may_be_bound_anew_and_added_to() -> None:
    run = "func g() { done = more() }\nfunc f() { db.Exec(fmt.Sprintf(`DELETE FROM jobs WHERE s = '%s'`, done)) }"
    (bound_anew,) = found("a.go", f'var done string = "x"\n{run}')
    assert "'x'" not in bound_anew.sql
    grown = 'func f() {\n\tvar q string = "UPDATE jobs SET a = 1"\n\tq += more\n\tfor i = 0; i < 3; i++ {\n\t}\n}'
    assert [bool(each.problem) for each in found("a.go", grown)] == [True]


def test_a_string_that_names_itself_is_no_part_of_another() -> None:
    code = "const q = `DELETE FROM jobs WHERE id = ${q}`"
    assert [each.sql for each in found("a.ts", code)] == ["DELETE FROM jobs WHERE id = {q}"]
