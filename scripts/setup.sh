# Sets up .venv and a Chromium; sourced by the other scripts, which run in the checkout's top folder.
# Does nothing, quickly, when nothing has changed since the last time.

fail() {
    printf '%s\n' "$1" >&2
    exit 3
}

as_root_with_apt() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
}

apt_install() {
    printf 'installing %s by apt-get\n' "$*" >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 ||
        { apt-get update -qq >/dev/null &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
}

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python; do
        [ -n "$candidate" ] || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

make_venv() {
    python=$(find_python) || fail 'Python 3.11 or newer is needed. On Debian: apt-get install python3 python3-venv'
    rm -rf .venv
    if ! "$python" -m venv .venv >/dev/null 2>&1; then
        as_root_with_apt && apt_install python3-venv && "$python" -m venv .venv ||
            fail "$python cannot make a virtual environment. On Debian: apt-get install python3-venv"
    fi
    printf 'installing the locked packages into .venv\n' >&2
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock &&
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . ||
        fail 'pip could not install the packages; its message stands above.'
}

# The environment is made anew when the lock, the project file or the folder has changed, or its interpreter has gone.
stamp=$( { cat requirements.lock pyproject.toml; pwd; } | cksum)
if [ "$(cat .venv/stamp 2>/dev/null)" != "$stamp" ] || ! .venv/bin/python -c '' 2>/dev/null; then
    make_venv
    printf '%s\n' "$stamp" >.venv/stamp
fi

# pip compiles what it installs, but not a checkout. Where PYTHONDONTWRITEBYTECODE is set, every command would compile
# all of it anew. What does not compile, or cannot be written, is for the command that needs it to complain about.
.venv/bin/python -m compileall -qq arrowproof || :

find_chromium() {
    for candidate in "${ARROWPROOF_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 && return 0
    done
    # Playwright keeps its own downloads outside the environment.
    .venv/bin/python -c 'from arrowproof.render.chromium import find_chromium; find_chromium()' >/dev/null 2>&1
}

if ! find_chromium; then
    if as_root_with_apt; then
        apt_install chromium || fail 'apt-get could not install chromium; its message stands above.'
    else
        .venv/bin/playwright install chromium || fail 'No Chromium was found. On Debian: apt-get install chromium'
    fi
fi
