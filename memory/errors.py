"""Every error that Mnestic raises, in one tree.

They stand together because their branch, not their name, decides what happens next: whether an activity is retried, which exit
code a command ends with, which HTTP status is answered. Those of language models are in `memory/models/errors.py`.

    MnesticError
    ├── RefusedError                  the caller must change something; never retried
    │   ├── InvalidInputError         a value is malformed
    │   │   ├── InvalidPlanError      a plan has problems, each with node and line
    │   │   ├── InvalidContractError  a memory contract has problems, each with its path
    │   │   └── PayloadTooLargeError  over a limit
    │   ├── UnauthenticatedError      no valid API key (`memory/access/errors.py`)
    │   ├── ForbiddenError            the API key does not allow it
    │   ├── KeptOutError              it was forgotten, and is not to be learned again
    │   ├── NotFoundError             nothing is stored under that name
    │   ├── AlreadyExistsError        something is stored under that name
    │   ├── StaleRequestError         what it is based on has changed since
    │   ├── StaleVersionError         the stored version has moved on
    │   ├── AccessDeniedError         the agent may not have that memory of others
    │   ├── LockedError               another holds the lock of the key
    │   ├── LockLostError             the lock of a write has ended, or another has it
    │   ├── EventsTrimmedError        events after a number are no longer kept
    │   ├── IdempotencyConflictError  an operation key came back with another request
    │   ├── ResumeRefusedError        no wait takes this resume
    │   ├── MemoryDriftedError        a strict wait found that memory has changed
    │   ├── BudgetExceededError       a job or a day has used up its tokens or its money
    │   ├── ForeignTenantError        a workflow asks for the memory of another tenant
    │   ├── JobFailedError            the job ended without a result
    │   ├── JobEndedError             the job has ended, so nothing of it begins any more
    │   ├── AlreadyWaitingError       a job waits at one wait at a time
    │   ├── ConfigurationError        a setting is wrong or missing
    │   ├── SchemaVersionError        database and code are of different versions
    │   ├── ModelRefusedError         a language model will not answer this request
    │   │   └── ModelMisconfiguredError  nor any other, until a setting is changed
    │   ├── MemoryExistsError         a restore would replace memory
    │   └── InUseError                a port or a data directory is taken
    ├── UnavailableError              the world is down; retried
    │   ├── DatabaseUnavailableError
    │   ├── BackendUnavailableError   the backend of a schema does not answer
    │   ├── TemporalUnavailableError
    │   ├── SearchAttributesMissingError
    │   ├── ModelUnavailableError
    │   ├── PayloadKeyError       what Temporal carries is encrypted with a key that is not set here
    │   ├── NotesUnavailableError     the vault of notes cannot be read
    │   ├── ExtractionPausedError     messages wait for a budget or a setting
    │   ├── WorkerUnavailableError    no worker takes a request to a job
    │   ├── BuildUnavailableError     no worker of a build polls
    │   ├── JobStuckError             its workflow code fails on the worker; needs a fixed worker
    │   ├── ProcessCrashedError       a part of the embedded runtime ended by itself
    │   └── ProvisioningError         Temporal's server could not be found or built
    └── InvariantError                we are wrong; never retried, someone is told
        ├── StoredValueError          a stored row cannot be read
        ├── BackupDamagedError        a backup is not what was written
        ├── SnapshotCorruptedError    stored bytes are not what was written
        └── SnapshotUnverifiedError   a job is parked because its snapshot was not verified
"""

from datetime import datetime, timedelta
from typing import Any


class MnesticError(Exception):
    """Base of all errors of this package."""


class RefusedError(MnesticError):
    """The caller must change something; the same request fails again."""


class UnavailableError(MnesticError):
    """Something outside is down; the same request may succeed later."""


class InvariantError(MnesticError):
    """Something that cannot be is; a person has to look."""


class InvalidInputError(RefusedError):
    """A value is malformed."""

    def __init__(self, *, what: str, why: str) -> None:
        self.what, self.why = what, why
        super().__init__(f"{what}: {why}")


class InvalidPlanError(InvalidInputError):
    """A plan has problems; each names its node and, when it was read from YAML, its line."""

    def __init__(self, *, source: str, problems: tuple[str, ...]) -> None:
        self.source, self.problems = source, problems
        super().__init__(what=f"plan {source}", why="; ".join(problems))


class InvalidContractError(InvalidInputError):
    """A memory contract has problems; each names its path in the document."""

    def __init__(self, *, problems: tuple[str, ...], source: str = "") -> None:
        self.source, self.problems = source, problems
        super().__init__(what=f"memory contract {source}".rstrip(), why="; ".join(problems))


class PayloadTooLargeError(InvalidInputError):
    """A payload is over its limit. Sizes are bytes of canonical JSON."""

    def __init__(self, *, what: str, size_bytes: int, limit_bytes: int) -> None:
        self.size_bytes, self.limit_bytes = size_bytes, limit_bytes
        super().__init__(
            what=what,
            why=f"is {size_bytes} bytes, the limit is {limit_bytes}; store the content as a record and pass its key",
        )


class KeptOutError(RefusedError):
    """A text speaks of what was forgotten and is not to be learned again."""

    def __init__(self, *, what: str, keep_out_id: str, since: datetime) -> None:
        self.what, self.keep_out_id, self.since = what, keep_out_id, since
        super().__init__(
            f"{what}: speaks of what was forgotten on {since:%Y-%m-%d} and is kept out; leave that out, or lift it first: "
            f"mnestic memory keep-outs lift {keep_out_id}"
        )


class NotFoundError(RefusedError):
    """Nothing is stored under that name."""

    def __init__(self, *, what: str, name: str) -> None:
        self.what, self.name = what, name
        super().__init__(f"no {what} {name if name.strip() else repr(name)}")


class AlreadyExistsError(RefusedError):
    """Something else is stored under that name."""

    def __init__(self, *, what: str, name: str) -> None:
        self.what, self.name = what, name
        super().__init__(f"{what} {name} exists already")


class StaleRequestError(RefusedError):
    """What the request is based on has changed since."""

    def __init__(self, *, what: str, why: str) -> None:
        self.what, self.why = what, why
        super().__init__(f"{what}: {why}")


class StaleVersionError(RefusedError):
    """A write was based on a version that is no longer the stored one.

    `stored` is what is stored now, so that the caller can merge and try again.
    """

    def __init__(self, *, what: str, expected: int, stored_version: int, stored: Any) -> None:
        self.what, self.expected = what, expected
        self.stored_version, self.stored = stored_version, stored
        super().__init__(
            f"{what} is at version {stored_version}, the write expected version {expected}; read it again and repeat the change"
        )


class ForeignTenantError(RefusedError):
    """A workflow asks for the memory of a tenant that is not its own."""

    def __init__(self, *, caller: str, tenant_id: str | None, workflow_id: str | None) -> None:
        self.caller, self.tenant_id, self.workflow_id = caller, tenant_id, workflow_id
        memory = f"memory of tenant {tenant_id}" if tenant_id else "memory of no tenant"
        by = f"in workflow {workflow_id}" if workflow_id else "outside of a workflow"
        super().__init__(
            f"{caller} asks {by} for {memory}; a workflow reaches the memory of the tenant in its id (job/TENANT/JOB), "
            "or else of the worker's MNESTIC_TENANT_ID"
        )


class AccessDeniedError(RefusedError):
    """An agent asks for memory of others that neither a contract nor a grant gives it."""

    def __init__(self, *, agent_id: str, what: str, allowed: str) -> None:
        self.agent_id, self.what = agent_id, what
        super().__init__(f"agent {agent_id} has no access to {what}; it is allowed: {allowed}")


class LockedError(RefusedError):
    """Another holds the lock of a key, or of one in a namespace that is dropped."""

    def __init__(self, *, what: str, holder: str, until: datetime) -> None:
        self.what, self.holder, self.until = what, holder, until
        super().__init__(
            f"{what} is locked by {holder} until {until:%H:%M:%S} UTC at the latest; lock it, or try again then"
        )


class LockLostError(RefusedError):
    """A write carries the token of a lock that has ended; what others have written since then is to be read first."""

    def __init__(self, *, what: str, token: int) -> None:
        self.what, self.token = what, token
        super().__init__(
            f"the lock of {what} with token {token} has ended; lock it again, read, and repeat the change"
        )


class EventsTrimmedError(RefusedError):
    """Events that a subscriber has not seen are no longer stored; it has to read memory itself."""

    def __init__(self, *, after: int, first: int) -> None:
        self.after, self.first = after, first
        super().__init__(
            f"events {after + 1} to {first - 1} are trimmed; read memory anew, then go on after {first - 1}"
        )


class IdempotencyConflictError(RefusedError):
    """An operation key was used before, for a different request."""

    def __init__(self, *, key: str) -> None:
        self.key = key
        super().__init__(
            f"operation {key} was recorded before with a different request, or by an earlier job of that id"
        )


class ResumeRefusedError(RefusedError):
    """No wait of the job takes this resume."""

    def __init__(self, *, job_id: str, why: str) -> None:
        self.job_id, self.why = job_id, why
        super().__init__(f"job {job_id} was not resumed: {why}")


class AlreadyWaitingError(RefusedError):
    """A job waits at one wait at a time; `waits_for` and `key` are those of the first and the second.

    The first one `is_given_up` when nobody waits for it any more, though it is still open.
    """

    def __init__(self, *, job_id: str, waits_for: str, key: str, is_given_up: bool = False) -> None:
        self.job_id, self.waits_for, self.key = job_id, waits_for, key
        message = (
            f"job {job_id} waits for {waits_for}, so it cannot wait for {key} at the same time; "
            "wait for one after the other, or make them one wait with an outcome for each"
        )
        if is_given_up:
            message = (
                f"job {job_id} cannot wait for {key}: its wait for {waits_for} was cancelled or timed out "
                f"in the code, and is still open; wait for {waits_for} again, or end the job"
            )
        super().__init__(message)


class MemoryDriftedError(RefusedError):
    """Memory has changed while a job waited, and the wait's policy is strict. `changes` are told."""

    def __init__(self, *, wait_id: str, changes: tuple[str, ...], count: int) -> None:
        self.wait_id, self.changes, self.count = wait_id, changes, count
        more = f" and {count - len(changes)} more" if count > len(changes) else ""
        super().__init__(
            f"wait {wait_id} is strict and memory has changed: {', '.join(changes)}{more}; "
            "override it with a reason, or cancel the job"
        )


class BudgetExceededError(RefusedError):
    """A model may not be asked any more: what is used up, and what there was."""

    def __init__(self, *, what: str, used: str, limit: str) -> None:
        self.what, self.used, self.limit = what, used, limit
        super().__init__(f"the budget of {what} is used up: {used} of {limit}")


class JobFailedError(RefusedError):
    """A job ended without a result: it failed, or it was cancelled or terminated."""

    def __init__(self, *, job_id: str, how: str, why: str) -> None:
        self.job_id, self.how, self.why = job_id, how, why
        super().__init__(f"job {job_id} {how}: {why}")


class JobEndedError(RefusedError):
    """A job has ended, and an attempt that was lost, or its code, still opens a wait."""

    def __init__(self, *, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"job {job_id} is over and opens no wait; start another under its own id")


class ConfigurationError(RefusedError):
    """A setting is wrong or missing."""

    def __init__(self, *, setting: str, why: str) -> None:
        self.setting, self.why = setting, why
        super().__init__(f"{setting}: {why}")


class SchemaVersionError(RefusedError):
    """The database's schema is newer or older than this code."""

    def __init__(self, *, found: str, wanted: str, remedy: str) -> None:
        self.found, self.wanted = found, wanted
        super().__init__(
            f"the database is at schema {found}, this version needs {wanted}: {remedy}"
        )


class MemoryExistsError(RefusedError):
    """A restore would replace memory, and was not asked to."""

    def __init__(self, *, where: str) -> None:
        super().__init__(f"{where} has memory, so nothing is restored; --replace replaces it")


class InUseError(RefusedError):
    """A port or a data directory is taken."""

    def __init__(self, *, what: str, by: str, remedy: str) -> None:
        self.what, self.by = what, by
        super().__init__(f"{what} is in use by {by}: {remedy}")


class DatabaseUnavailableError(UnavailableError):
    """Postgres does not answer, or `answers` that it cannot do it now, as on a deadlock or a full disk."""

    def __init__(self, *, where: str, why: str, answers: bool = False) -> None:
        self.where = where
        super().__init__(f"Postgres at {where} {'says' if answers else 'does not answer'}: {why}")


class BackendUnavailableError(UnavailableError):
    """The backend of a schema does not answer, or not as it should; the address may hold secrets and is not named.

    A write that `is_stored` is in Mnestic's database.
    """

    def __init__(self, *, backend_id: str, why: str, is_stored: bool = False) -> None:
        self.backend_id, self.why = backend_id, why
        after = "; the write is stored, and is sent once the backend answers" if is_stored else ""
        super().__init__(f"backend {backend_id} does not answer: {why}{after}")


class TemporalUnavailableError(UnavailableError):
    """Temporal does not answer."""

    def __init__(self, *, where: str, why: str) -> None:
        self.where, self.why = where, why
        super().__init__(f"Temporal at {where} does not answer: {why}")


class SearchAttributesMissingError(UnavailableError):
    """Temporal has no search attributes for jobs; they can be started once somebody has registered these."""

    def __init__(self, *, where: str, why: str) -> None:
        super().__init__(
            f"Temporal at {where} lacks search attributes ({why}); run `mnestic migrate` with its address"
        )


class PayloadKeyError(UnavailableError):
    """A payload is encrypted with a key that is not set here; it can be read once somebody has set it."""

    def __init__(self, *, key_id: str, why: str) -> None:
        self.key_id = key_id
        key = key_id or "(none)"
        super().__init__(f"a payload from Temporal is encrypted with key {key}, {why}")


class NotesUnavailableError(UnavailableError):
    """The vault of notes cannot be read, or not in time."""

    def __init__(self, *, where: str, why: str) -> None:
        self.where, self.why = where, why
        super().__init__(f"the notes of {where} cannot be read: {why}")


class ExtractionPausedError(UnavailableError):
    """A used up budget or a wrong setting pauses extraction; it is tried again after `retry_after_s`."""

    def __init__(self, *, why: str, retry_after_s: float | None = None) -> None:
        self.why, self.retry_after_s = why, retry_after_s
        super().__init__(
            f"extraction is paused and continues once this is fixed, no message is lost: {why}"
        )


class WorkerUnavailableError(UnavailableError):
    """No worker has answered a request to a job within its limit; it may still be taken later."""

    def __init__(self, *, job_id: str, limit: timedelta, again: str) -> None:
        self.job_id = job_id
        super().__init__(
            f"no worker answers for job {job_id} within {limit.total_seconds():.0f} s; start one with `mnestic worker`, "
            f"and repeat the request {again}"
        )


class BuildUnavailableError(UnavailableError):
    """No worker of a build polls, so no job can be sent to it. Without an id: of no build."""

    def __init__(self, *, build_id: str, why: str) -> None:
        self.build_id = build_id
        which = f"of build {build_id}" if build_id else "without a build id"
        option = f" --build-id {build_id}" if build_id else ""
        super().__init__(f"no worker {which} is ready ({why}); start one: mnestic worker{option}")


class JobStuckError(UnavailableError):
    """A job's workflow code fails on the worker, which retries until the code is fixed."""

    def __init__(self, *, job_id: str, why: str) -> None:
        self.job_id = job_id
        super().__init__(
            f"job {job_id} is stuck: its worker fails to run it ({why}); nothing is lost, fix or restart the worker"
        )


class ProcessCrashedError(UnavailableError):
    """A part of the embedded runtime ended by itself, once or so often that it is given up."""

    def __init__(self, *, part: str, why: str) -> None:
        self.part = part
        super().__init__(f"{part} {why}")


class ProvisioningError(UnavailableError):
    """Temporal's server could not be found, downloaded or built."""

    def __init__(self, *, tried: tuple[str, ...], remedy: str) -> None:
        self.tried = tried
        super().__init__(f"Temporal's server could not be had. Tried: {'; '.join(tried)}. {remedy}")


class StoredValueError(InvariantError):
    """A stored row is not in the form that this version writes."""

    def __init__(self, *, what: str, why: str, remedy: str = "restore the row") -> None:
        self.what = what
        super().__init__(f"{what} is stored in a form that cannot be read: {why}; {remedy}")


class BackupDamagedError(InvariantError):
    """A backup is not what was written, so nothing is restored from it."""

    def __init__(self, *, backup_id: str, why: str) -> None:
        self.backup_id = backup_id
        super().__init__(f"backup {backup_id} is damaged: {why}; use another backup")


class SnapshotCorruptedError(InvariantError):
    """The stored bytes of a snapshot are not those that were written."""

    def __init__(self, *, snapshot_id: str, expected: str, found: str) -> None:
        self.snapshot_id = snapshot_id
        super().__init__(
            f"snapshot {snapshot_id} is corrupted: its sha256 is {found}, it was written as {expected}; restore the row from "
            "a backup, then repeat the request"
        )


class SnapshotUnverifiedError(InvariantError):
    """A job was not resumed, because the snapshot of its wait could not be verified."""

    def __init__(self, *, job_id: str, why: str) -> None:
        self.job_id = job_id
        super().__init__(f"job {job_id} was not resumed and needs attention: {why}")
