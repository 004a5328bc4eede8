"""The tables of knowledge: claims and facts, entries, the indexes that find entries, and signals."""

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    Double,
    Identity,
    Index,
    Integer,
    SmallInteger,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB

from mnestic.stores.postgres.tables import INSTANT, key, required, tenant_table

_CATEGORIES = "'profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'"
_NAMING = "'also_known_as', 'full_name', 'nickname', 'preferred_name'"
_TYPES = (
    "'interaction', 'insight', 'correction', 'context', 'learning', 'error', 'success', 'pattern', "
    "'preference', 'knowledge'"
)

# What somebody said to be so, append-only.
CLAIM = tenant_table(
    "claim",
    key("agent_id"),
    key("id"),
    required("kind", Text),
    required("subject", Text),
    required("subject_key", Text),
    required("predicate", Text),
    Column("object", Text),
    required("confidence", Double),
    required("said_at", INSTANT),
    Column("valid_from", INSTANT),
    Column("valid_to", INSTANT),
    required("source", JSONB),
    Column("session_id", Text, Computed("source ->> 'session_id'")),
    Column("source_id", Text, Computed("source ->> 'source_id'")),
    required("recorded_at", INSTANT),
    CheckConstraint(
        "kind IN ('affirmed', 'corrected', 'ended', 'retracted', 'reactivated', 'deleted')",
        name="claim_kind",
    ),
    # serves claim, of facts
    Index("claim_by_topic", "tenant_id", "agent_id", "subject_key", "predicate"),
    # serves list_from, and what is over of what a search finds
    Index("claim_by_source", "tenant_id", "agent_id", "session_id", "source_id"),
)

# What is believed, worked out of the claims; rewritten when they change it.
FACT = tenant_table(
    "fact",
    key("agent_id"),
    key("id"),
    required("subject", Text),
    required("subject_key", Text),
    required("predicate", Text),
    required("object", Text),
    required("object_key", Text),
    required("category", Text),
    required("cardinality", Text),
    required("status", Text),
    required("confidence", Double),
    required("valid_from", INSTANT),
    Column("valid_to", INSTANT),
    Column("end", Text),
    Column("supersedes", Text),
    Column("superseded_by", Text),
    required("claims", JSONB),
    required("created_at", INSTANT),
    required("updated_at", INSTANT),
    CheckConstraint("status IN ('active', 'archived', 'deleted')", name="fact_status"),
    CheckConstraint("cardinality IN ('single', 'multi')", name="fact_cardinality"),
    CheckConstraint(f"category IN ({_CATEGORIES})", name="fact_category"),
    # serves list, and claim
    Index(
        *("fact_by_topic", "tenant_id", "agent_id", "subject_key", "predicate"),
        *("valid_from", "id"),
    ),
    Index(
        *("fact_active_single", "tenant_id", "agent_id", "subject_key", "predicate"),
        unique=True,
        postgresql_where="status = 'active' AND cardinality = 'single'",
    ),
    Index(
        *("fact_active_multi", "tenant_id", "agent_id", "subject_key", "predicate"),
        "object_key",
        unique=True,
        postgresql_where="status = 'active' AND cardinality = 'multi'",
    ),
    # serves list_entries of whom a name means
    Index(
        *("fact_by_name", "tenant_id", "agent_id", "object_key"),
        postgresql_where=f"status = 'active' AND predicate IN ({_NAMING})",
    ),
    # serves recognise: until when what was found is true
    Index(
        *("fact_ending", "tenant_id", "agent_id", "valid_to"),
        postgresql_where="status = 'active' AND valid_to IS NOT NULL",
    ),
)

# What a tenant says of a predicate; of others the defaults hold.
PREDICATE = tenant_table(
    "predicate",
    key("name"),
    required("cardinality", Text),
    required("category", Text),
    required("updated_at", INSTANT),
    CheckConstraint("cardinality IN ('single', 'multi')", name="predicate_cardinality"),
    CheckConstraint(f"category IN ({_CATEGORIES})", name="predicate_category"),
)

# One memory. `number` stands for it in the indexes, `lexemes` is its length in them. `marks` are those of
# `mnestic.memory.entry_marks`. `facts` is of an earlier schema, and not written any more.
ENTRY = tenant_table(
    "entry",
    key("agent_id"),
    key("id"),
    required("number", BigInteger, Identity(always=True)),
    required("entry_type", Text),
    required("status", Text),
    required("content", Text),
    required("summary", Text),
    Column("session_id", Text),
    Column("source_id", Text),
    Column("channel", Text),
    Column("speaker", Text),
    required("subjects", JSONB),
    required("keywords", JSONB),
    required("tags", JSONB),
    required("aliases", JSONB),
    required("times", JSONB),
    required("related", JSONB),
    Column("parent", Text),
    required("facts", JSONB, server_default="[]"),
    required("importance", REAL),
    required("critical", Boolean),
    required("access_count", Integer),
    Column("last_accessed", INSTANT),
    required("language", Text),
    required("lexemes", Integer, Computed("mnestic.count_lexemes(language, content)")),
    required("at", INSTANT),
    required("created_at", INSTANT),
    required("updated_at", INSTANT),
    Column("expires_at", INSTANT),
    required("marks", SmallInteger),
    CheckConstraint("status IN ('active', 'archived')", name="entry_status"),
    CheckConstraint(f"entry_type IN ({_TYPES})", name="entry_type"),
    Index("entry_by_number", "tenant_id", "agent_id", "number", unique=True),
    Index("entry_by_time", "tenant_id", "agent_id", "at", "id"),
    Index("entry_by_session", "tenant_id", "agent_id", "session_id", "at", "id"),
    Index("entry_by_channel", "tenant_id", "agent_id", "channel", "at", "id"),
    Index(
        *("entry_by_parent", "tenant_id", "agent_id", "parent"),
        postgresql_where="parent IS NOT NULL",
    ),
    Index(
        *("entry_expiring", "tenant_id", "agent_id", "expires_at"),
        postgresql_where="expires_at IS NOT NULL",
    ),
)

# How often a lexeme is in an entry, and how long that entry is.
POSTING = tenant_table(
    "posting",
    key("agent_id"),
    key("lexeme"),
    key("entry_number", BigInteger),
    required("frequency", SmallInteger),
    required("length", Integer),
)

# How many entries of an agent a lexeme is in.
LEXEME = tenant_table(
    "lexeme",
    key("agent_id"),
    key("lexeme"),
    required("entries", BigInteger),
)

# How many entries an agent has, how long they are together, and in which languages there were some.
CORPUS = tenant_table(
    "corpus",
    key("agent_id"),
    required("entries", BigInteger),
    required("lexemes", BigInteger),
    required("languages", ARRAY(Text)),
)

# A name that an entry is found by, or an entry that it is related to.
TERM = tenant_table(
    "entry_term",
    key("agent_id"),
    key("kind"),
    key("term"),
    key("entry_number", BigInteger),
    CheckConstraint(
        "kind IN ('keyword', 'tag', 'alias', 'subject', 'related')", name="entry_term_kind"
    ),
)

# An entry's vector of one model.
EMBEDDING = tenant_table(
    "embedding",
    key("agent_id"),
    key("model"),
    key("entry_number", BigInteger),
    required("dimensions", Integer),
    required("vector", HALFVEC),
    Index(
        *("embedding_exact", "tenant_id", "agent_id", "model", "entry_number"),
        postgresql_include=["vector"],
        postgresql_where="dimensions <= 1280",
    ),
)

# How many entries of an agent have a vector of a model; of those up to `complete_to` all may. Which entries have none
# is found without looking at those that have one.
EMBEDDING_MODEL = tenant_table(
    "embedding_model",
    key("agent_id"),
    key("model"),
    required("entries", BigInteger),
    required("complete_to", BigInteger),
)

# How far it is with learning from a resource; `reason` says why one is parked. `job_id` and `workflow_run` are of the
# job that heard it, if one did; `corrects` is the source id of the message that a correction is about.
LEARNING = tenant_table(
    "learning",
    key("agent_id"),
    key("session_id"),
    key("source_id"),
    required("number", BigInteger, Identity(always=True)),
    required("state", Text),
    required("entry_type", Text),
    required("kind", Text),
    Column("job_id", Text),
    Column("workflow_run", Text),
    Column("corrects", Text),
    Column("extractor", Text),
    Column("extracted", JSONB(none_as_null=True)),
    Column("reason", Text),
    required("updated_at", INSTANT),
    CheckConstraint(
        "state IN ('received', 'extracted', 'learned', 'parked', 'dropped')",
        name="learning_state",
    ),
    CheckConstraint("kind IN ('message', 'tool_result')", name="learning_kind"),
    CheckConstraint("(state = 'parked') = (reason IS NOT NULL)", name="learning_parked"),
    # serves take and list_by_state; the migration says of which collation it is, and why
    Index("learning_by_state", "tenant_id", "agent_id", "state", "number"),
)

# What subscribers are told about a change of memory: the outbox.
SIGNAL = tenant_table(
    "signal",
    key("agent_id"),
    key("number", BigInteger, autoincrement=False),
    required("kind", Text),
    required("target", Text),
    required("ids", JSONB),
    Column("subject", Text),
    Column("predicate", Text),
    required("details", JSONB),
    required("at", INSTANT),
    CheckConstraint("target IN ('fact', 'entry', 'pattern')", name="signal_target"),
)
