"""Settings. The environment is read here and nowhere else; a bad value is refused with its name.

Without any variable set this is the embedded set-up: SQLite and a bundled Valkey under the data
folder. `DATABASE_URL` and `REDIS_URL` replace them (docs/operating.md lists every variable).
"""

import hashlib
import tempfile
from pathlib import Path

import django_stubs_ext
import environ
import plotly
from csp.constants import NONE, SELF, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured

from aegis_web import api_document
from aegis_web.embedded.address import name_of
from aegis_web.executor_settings import executors_of
from aegis_web.secret_key import kept_secret
from aegis_web.sign_on_settings import sign_on_of
from incidents.delivery.address import networks

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

#: What a UNIX socket's address holds on Linux, less its end mark; macOS holds a little less.
UNIX_SOCKET_PATH_LIMIT = 103


def positive(name: str, default: int) -> int:
    """A whole number above zero from the environment."""
    try:
        value = int(env.str(name, default=str(default)))
    except ValueError as error:
        given = env.str(name)
        raise ImproperlyConfigured(
            f"{name} must be a whole number above 0, not {given!r}"
        ) from error
    if value <= 0:
        raise ImproperlyConfigured(f"{name} must be a whole number above 0, not {value}")
    return value


# Where everything that this instance writes lives: database, evidence, sockets, secret.
DATA_DIR = Path(env.str("AEGIS_DATA_DIR", default=str(BASE_DIR / "var"))).resolve()

SECRET_KEY = env.str("AEGIS_SECRET_KEY", default="") or kept_secret(DATA_DIR)
DEBUG = env.bool("AEGIS_DEBUG", default=False)
EMBEDDED_HOST = env.str("AEGIS_HOST", default="127.0.0.1")
EMBEDDED_PORT = positive("AEGIS_PORT", 8000)
ALLOWED_HOSTS = env.list(
    "AEGIS_ALLOWED_HOSTS",
    default=["localhost", "127.0.0.1", "[::1]", name_of(EMBEDDED_HOST)],
)
CSRF_TRUSTED_ORIGINS = env.list("AEGIS_TRUSTED_ORIGINS", default=[])
SERVED_OVER_TLS = env.bool("AEGIS_TLS", default=False)

INSTALLED_APPS = [
    "aegis_web.admin_config.SettingsConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "aegis_web.admin_config.LogInAttemptsConfig",
    "csp",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "aegis_web",
    "incidents",
    "diagnosis",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "aegis_web.nul.NoNulInAddress",
    "aegis_web.idle.EndIdleSessions",
    "aegis_web.reach.WithinReach",
    "aegis_web.login.LoginRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "aegis_web.urls"
WSGI_APPLICATION = "aegis_web.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# Database. SQLite: writers queue for the lock at BEGIN instead of failing half-way.
DATABASES = {
    "default": env.db_url("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'aegis.sqlite3'}")
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# People.
AUTH_USER_MODEL = "incidents.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "incidents.roles_backend.RoleBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "incidents:desk"
LOGOUT_REDIRECT_URL = "login"
LOGIN_FAILURES = positive("AEGIS_LOGIN_FAILURES", 10)
AXES_FAILURE_LIMIT: int | str = LOGIN_FAILURES
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_TEMPLATE = "registration/locked_out.html"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
# Single sign-on: off without an issuer.
try:
    SIGN_ON = sign_on_of(env.ENVIRON)
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from error
PASSWORD_LOGIN = env.bool("AEGIS_PASSWORD_LOGIN", default=True)
if not PASSWORD_LOGIN and not SIGN_ON:
    raise ImproperlyConfigured("AEGIS_PASSWORD_LOGIN is off, but AEGIS_OIDC_ISSUER is not set")
if SIGN_ON:
    AUTHENTICATION_BACKENDS.append("aegis_web.sign_on.SignOnBackend")
    AXES_FAILURE_LIMIT = "aegis_web.sign_on.failures_before_lock"
    AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "state"]
    globals().update(SIGN_ON.library_settings())
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_OVER_TLS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_IDLE_SECONDS = positive("AEGIS_SESSION_IDLE_H", 12) * 3600
SECURE_SSL_REDIRECT = SERVED_OVER_TLS
SECURE_REDIRECT_EXEMPT = [r"^health$"]
SECURE_HSTS_SECONDS = 31_536_000 if SERVED_OVER_TLS else 0
# Whether other names below this one are served over TLS is for their owners to say.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SERVED_OVER_TLS else None
# Plotly writes style attributes; everything else comes from the project's own files.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# Language and time: stored in UTC, shown in the viewer's zone by the browser.
LANGUAGE_CODE = "en-gb"
USE_I18N = False
FORMAT_MODULE_PATH = "aegis_web.formats"
TIME_ZONE = "UTC"
USE_TZ = True

# Files.
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "static_collected"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("plotly", Path(plotly.__file__).parent / "package_data"),
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
MEDIA_ROOT = DATA_DIR / "media"
EVIDENCE_DIR = DATA_DIR / "evidence"
EVIDENCE_MAX_BYTES = positive("AEGIS_EVIDENCE_MAX_BYTES", 8 * 1024**3)
DATA_UPLOAD_MAX_NUMBER_FILES = positive("AEGIS_UPLOAD_MAX_FILES", 4096)
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024**2

# The embedded set-up (`manage.py serve`).
EMBEDDED_WEB_WORKERS = positive("AEGIS_WEB_WORKERS", 2)
EMBEDDED_TASK_WORKERS = positive("AEGIS_TASK_WORKERS", 2)


def broker_socket() -> Path:
    """Where the bundled Valkey listens: under the data folder, where its path is short enough."""
    path = DATA_DIR / "valkey.sock"
    if len(str(path)) <= UNIX_SOCKET_PATH_LIMIT:
        return path
    digest = hashlib.sha256(str(DATA_DIR).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"aegis-{digest}.sock"


CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": env.str("REDIS_URL", default="") or f"unix://{broker_socket()}",
        "KEY_PREFIX": "aegis",
        "OPTIONS": {"socket_connect_timeout": 0.2, "socket_timeout": 0.5},
    }
}

# Celery. A task that a dead worker held comes back after the visibility timeout; the run's own
# lease makes a second start harmless.
REDIS_URL = env.str("REDIS_URL", default="")
BROKER_SOCKET = None if REDIS_URL else broker_socket()
CELERY_BROKER_URL = REDIS_URL or f"redis+socket://{BROKER_SOCKET}"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": positive("AEGIS_VISIBILITY_TIMEOUT_S", 60),
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 2,
    # A request must not wait for a broker that is down: the row is written, the sweeper sends it.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.2,
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_DB_REUSE_MAX = 100
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {
    "incidents.tasks.deliver": {"queue": "delivery"},
    "incidents.tasks.ask_ticket_system": {"queue": "delivery"},
    "incidents.tasks.execute": {"queue": "execution"},
    "incidents.tasks.take_in": {"queue": "inbox"},
    "diagnosis.tasks.judge_*": {"queue": "watch"},
    "diagnosis.tasks.*": {"queue": "diagnosis"},
}

# Diagnosis runs: how long a worker may hold a run without a heartbeat, and how often that is swept.
DIAGNOSIS_LEASE_SECONDS = positive("AEGIS_DIAGNOSIS_LEASE_S", 60)
DIAGNOSIS_MAX_ATTEMPTS = positive("AEGIS_DIAGNOSIS_MAX_ATTEMPTS", 5)

# Checks before delivery: a run whose hosts' runners don't answer ends after so long, or after three
# times its suite's budget where that is more.
CHECK_DEADLINE_SECONDS = positive("AEGIS_CHECK_DEADLINE_S", 1800)
# Isolations that ask again: more hosts of a cluster than this within the window, or a larger share
# of its hosts where at least so many of them are registered.
ISOLATION_MAX_HOSTS = positive("AEGIS_ISOLATION_HOSTS", 5)
ISOLATION_MAX_PERCENT = positive("AEGIS_ISOLATION_PERCENT", 10)
ISOLATION_SHARE_FROM_HOSTS = positive("AEGIS_ISOLATION_SHARE_FROM", 20)
ISOLATION_WINDOW_MINUTES = positive("AEGIS_ISOLATION_WINDOW_MIN", 60)

# The executor: off unless named. What it may run, by scheduler, and for how long.
try:
    EXECUTORS = executors_of(env.ENVIRON)
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from error
EXECUTOR_SECONDS = positive("AEGIS_EXECUTOR_S", 30)

# The watch: how often each running job is judged, how often due ones are looked for, for how long
# a worker may hold one, and ask its metric source. Graces are in seconds; past them a job that
# stands still is hung.
WATCH_INTERVAL_SECONDS = positive("AEGIS_WATCH_INTERVAL_S", 60)
WATCH_TICK_SECONDS = positive("AEGIS_WATCH_TICK_S", 5)
WATCH_LEASE_SECONDS = positive("AEGIS_WATCH_LEASE_S", 120)
WATCH_SOURCE_SECONDS = positive("AEGIS_WATCH_SOURCE_S", 20)
WATCH_STILL_SECONDS = positive("AEGIS_WATCH_STILL_S", 55)
WATCH_FRESH_SECONDS = positive("AEGIS_WATCH_FRESH_S", 180)
WATCH_FIRST_STEP_SECONDS = positive("AEGIS_WATCH_FIRST_STEP_S", 1800)
WATCH_EVALUATION_SECONDS = positive("AEGIS_WATCH_EVALUATION_S", 1800)
WATCH_CHECKPOINT_SECONDS = positive("AEGIS_WATCH_CHECKPOINT_S", 600)
# Secrets of metric sources, by the name that the source's record gives.
METRIC_SECRETS = {
    name.removeprefix("AEGIS_SOURCE_SECRET_"): value
    for name, value in env.ENVIRON.items()
    if name.startswith("AEGIS_SOURCE_SECRET_")
}

# Ticket systems: how often each is asked how its tickets stand.
TICKET_POLL_SECONDS = positive("AEGIS_TICKET_POLL_S", 60)

CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    "sweep-diagnoses": {
        "task": "diagnosis.tasks.sweep_diagnoses",
        "schedule": positive("AEGIS_SWEEP_S", 10),
    },
    "sweep-checks": {
        "task": "diagnosis.tasks.sweep_checks",
        "schedule": positive("AEGIS_CHECK_SWEEP_S", 5),
        "options": {"expires": 5},
    },
    "take-in-due": {
        "task": "incidents.tasks.take_in_due",
        "schedule": 5,
        "options": {"expires": 5},
    },
    "rescore-hosts": {
        "task": "diagnosis.tasks.rescore_hosts",
        "schedule": positive("AEGIS_RESCORE_S", 900),
        "options": {"expires": 900},
    },
    "deliver-due": {
        "task": "incidents.tasks.deliver_due",
        "schedule": 5,
        "options": {"expires": 5},
    },
    "sweep-executions": {
        "task": "incidents.tasks.sweep_executions",
        "schedule": 15,
        "options": {"expires": 15},
    },
    "ask-ticket-systems": {
        "task": "incidents.tasks.ask_ticket_systems",
        "schedule": TICKET_POLL_SECONDS / 4,
        "options": {"expires": TICKET_POLL_SECONDS},
    },
    "judge-due": {
        "task": "diagnosis.tasks.judge_due",
        "schedule": WATCH_TICK_SECONDS,
        # What a stopped worker left lying is not worth doing: the rows say what is due.
        "options": {"expires": WATCH_TICK_SECONDS},
    },
}

# Webhooks: where messages may go beside public addresses (https), and where links lead to.
try:
    WEBHOOK_NETWORKS = networks(env.list("AEGIS_WEBHOOK_NETWORKS", default=[]))
except ValueError as error:
    raise ImproperlyConfigured(f"AEGIS_WEBHOOK_NETWORKS: {error}") from error
PUBLIC_URL = env.str(
    "AEGIS_PUBLIC_URL", default=f"http://{name_of(EMBEDDED_HOST)}:{EMBEDDED_PORT}"
).rstrip("/")

# REST. Requests are counted where all web processes see it.
API_REQUESTS_PER_MINUTE = positive("AEGIS_REQUESTS_PER_MINUTE", 1200)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "incidents.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["incidents.api.permissions.RolePermission"],
    "DEFAULT_THROTTLE_CLASSES": ["incidents.api.throttling.PerMinute"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "incidents.api.pagination.CursorPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "incidents.api.problems.problem_response",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = api_document.SETTINGS

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("AEGIS_LOG_LEVEL", default="INFO")},
    "loggers": {"axes.apps": {"level": "WARNING"}, "httpx": {"level": "WARNING"}},
}
