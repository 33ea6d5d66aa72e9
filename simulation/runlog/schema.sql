-- The layout of a run database, version 2. docs/run-database.md explains it; docs/adr/0005 says why.
-- No keys and no indexes: rows are only ever appended in bulk, and an index would cost more than it
-- finds. NOT NULL stands wherever a missing value would be a defect of the writer.

CREATE TABLE run (
    run_id VARCHAR NOT NULL,
    scenario_name VARCHAR NOT NULL,
    scenario_yaml VARCHAR NOT NULL,
    scenario_sha256 VARCHAR NOT NULL,
    settings VARCHAR[] NOT NULL,
    seed BIGINT NOT NULL,
    engine_version VARCHAR NOT NULL,
    schema_version INTEGER NOT NULL,
    horizon INTEGER NOT NULL,
    tau DOUBLE NOT NULL,
    status VARCHAR NOT NULL,
    last_tick INTEGER NOT NULL,
    started_at TIMESTAMP NOT NULL,
    finished_at TIMESTAMP,
    parameters JSON NOT NULL,
    encoder VARCHAR NOT NULL,
    encoder_sha256 VARCHAR,
    models JSON NOT NULL,
    packages JSON NOT NULL,
    parent_run_id VARCHAR,
    forked_at_tick INTEGER
);
COMMENT ON TABLE run IS 'The run: one row. How it was made, how far it got, and every constant in force.';
COMMENT ON COLUMN run.run_id IS 'unique name of this run';
COMMENT ON COLUMN run.scenario_name IS 'name of the scenario';
COMMENT ON COLUMN run.scenario_yaml IS 'the scenario file as it was read';
COMMENT ON COLUMN run.scenario_sha256 IS 'SHA-256 of scenario_yaml, hexadecimal';
COMMENT ON COLUMN run.settings IS 'what --set changed of the scenario, path=value, in order';
COMMENT ON COLUMN run.seed IS 'seed of all random streams';
COMMENT ON COLUMN run.engine_version IS 'version of the package that ran';
COMMENT ON COLUMN run.schema_version IS 'version of this layout; a newer one than the reader knows is refused';
COMMENT ON COLUMN run.horizon IS 'number of ticks asked for';
COMMENT ON COLUMN run.tau IS 'time constant of recency in ticks: max(1, horizon / 4)';
COMMENT ON COLUMN run.status IS 'running, complete, interrupted, budget_exhausted or failed';
COMMENT ON COLUMN run.last_tick IS 'last tick that is wholly in this file; 0 is the start, -1 means not even that';
COMMENT ON COLUMN run.started_at IS 'when the run began, UTC';
COMMENT ON COLUMN run.finished_at IS 'when the run ended, UTC; NULL while it runs or after a crash';
COMMENT ON COLUMN run.parameters IS
    'every constant in force: a flat object with dotted keys, such as "recall.k.cheap"';
COMMENT ON COLUMN run.encoder IS 'name of the sentence encoder';
COMMENT ON COLUMN run.encoder_sha256 IS 'SHA-256 of the encoder''s table or weights; NULL where it has none';
COMMENT ON COLUMN run.models IS 'language models by tier: provider, model and settings; never a key';
COMMENT ON COLUMN run.packages IS 'versions of Python and of the packages that shape results';
COMMENT ON COLUMN run.parent_run_id IS 'the run that this one was forked from; NULL for none';
COMMENT ON COLUMN run.forked_at_tick IS 'last tick shared with the parent run; NULL for none';

CREATE TABLE resumes (
    resume_no INTEGER NOT NULL,
    resumed_at TIMESTAMP NOT NULL,
    after_tick INTEGER NOT NULL,
    engine_version VARCHAR NOT NULL,
    settings VARCHAR[] NOT NULL,
    packages JSON NOT NULL
);
COMMENT ON TABLE resumes IS 'One row per time that a run which had stopped was taken up again.';
COMMENT ON COLUMN resumes.resume_no IS 'number of the resumption, from 1';
COMMENT ON COLUMN resumes.resumed_at IS 'when, UTC';
COMMENT ON COLUMN resumes.after_tick IS 'last tick that the file held then; it was gone on from there';
COMMENT ON COLUMN resumes.engine_version IS 'version of the package that went on';
COMMENT ON COLUMN resumes.settings IS 'what --set changed for the rest of the run, path=value, in order';
COMMENT ON COLUMN resumes.packages IS 'versions of the packages that shape results, then';

CREATE TABLE sources (
    name VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    content BLOB NOT NULL
);
COMMENT ON TABLE sources IS
    'Files that a run needs to go on, whole: the ontology, and word norms or coefficients that the scenario names.';
COMMENT ON COLUMN sources.name IS 'key of the scenario that names it, such as ontology';
COMMENT ON COLUMN sources.file IS 'name of the file, without its folder';
COMMENT ON COLUMN sources.sha256 IS 'SHA-256 of the content, hexadecimal';
COMMENT ON COLUMN sources.content IS 'the bytes of the file; decode(content) shows text';

CREATE TABLE personas (
    persona_id VARCHAR NOT NULL,
    persona_index INTEGER NOT NULL,
    attributes JSON USING COMPRESSION zstd NOT NULL,
    persona_block VARCHAR USING COMPRESSION zstd NOT NULL,
    block_sha256 VARCHAR NOT NULL,
    personality_kind VARCHAR NOT NULL,
    personality DOUBLE[],
    gains DOUBLE[],
    reflection_interval INTEGER NOT NULL,
    activity DOUBLE NOT NULL,
    tier VARCHAR NOT NULL,
    quarantined_tick INTEGER
);
COMMENT ON TABLE personas IS 'Who takes part: one row per persona.';
COMMENT ON COLUMN personas.persona_id IS 'id of the persona';
COMMENT ON COLUMN personas.persona_index IS 'place of the persona when ids are sorted, from 0';
COMMENT ON COLUMN personas.attributes IS 'the persona''s attributes after the ontology';
COMMENT ON COLUMN personas.persona_block IS 'what the persona is told about itself at every turn';
COMMENT ON COLUMN personas.block_sha256 IS 'SHA-256 of persona_block, hexadecimal';
COMMENT ON COLUMN personas.personality_kind IS 'none, attachment or big_five; always none in this version';
COMMENT ON COLUMN personas.personality IS
    'attachment (anxiety, avoidance) or Big Five (O, C, E, A, N), each in [0, 1]; NULL for none';
COMMENT ON COLUMN personas.gains IS
    'how far traits act: mu, mu_d, kappa_fa; Big Five: mu, mu_pos, mu_d, kappa_fa, tau_bf; NULL for none';
COMMENT ON COLUMN personas.reflection_interval IS 'turns between two reflections by cadence, 4 to 8';
COMMENT ON COLUMN personas.activity IS 'probability of taking a turn in a tick, [0, 1]';
COMMENT ON COLUMN personas.tier IS 'tier of the persona''s model: cheap or frontier';
COMMENT ON COLUMN personas.quarantined_tick IS
    'tick since when the rule model acts for the persona, whose turns kept failing; NULL for never';

CREATE TABLE claims (
    claim_id VARCHAR NOT NULL,
    claim_index INTEGER NOT NULL,
    text VARCHAR NOT NULL
);
COMMENT ON TABLE claims IS 'The claims of the brief: one row per claim.';
COMMENT ON COLUMN claims.claim_id IS 'id of the claim, as in the brief';
COMMENT ON COLUMN claims.claim_index IS 'place of the claim in the brief, from 0';
COMMENT ON COLUMN claims.text IS 'the claim in words';

CREATE TABLE initial_beliefs (
    persona_id VARCHAR NOT NULL,
    target VARCHAR NOT NULL,
    belief DOUBLE NOT NULL
);
COMMENT ON TABLE initial_beliefs IS 'Beliefs at tick 0, before the first tick: one row per persona and target.';
COMMENT ON COLUMN initial_beliefs.persona_id IS 'id of the persona';
COMMENT ON COLUMN initial_beliefs.target IS 'dimension or claim id';
COMMENT ON COLUMN initial_beliefs.belief IS 'value of the dimension or credence of the claim, [0, 1]';

CREATE TABLE edges (
    source VARCHAR NOT NULL,
    target VARCHAR NOT NULL,
    weight DOUBLE NOT NULL,
    created_tick INTEGER NOT NULL,
    removed_tick INTEGER
);
COMMENT ON TABLE edges IS 'The social graph: one row per directed follow.';
COMMENT ON COLUMN edges.source IS 'persona that follows';
COMMENT ON COLUMN edges.target IS 'persona that is followed: its posts reach the source';
COMMENT ON COLUMN edges.weight IS 'strength of the tie, >= 0';
COMMENT ON COLUMN edges.created_tick IS 'tick in which the follow began; 0 for the initial graph';
COMMENT ON COLUMN edges.removed_tick IS 'tick at whose end the follow ended; NULL while it lasts';

CREATE TABLE stimuli (
    stimulus_id VARCHAR NOT NULL,
    tick INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    claim_id VARCHAR,
    stance DOUBLE,
    credibility DOUBLE,
    stream_index INTEGER NOT NULL
);
COMMENT ON TABLE stimuli IS 'Events of the scenario: one row per event.';
COMMENT ON COLUMN stimuli.stimulus_id IS 'id of the event';
COMMENT ON COLUMN stimuli.tick IS 'tick in which it is published';
COMMENT ON COLUMN stimuli.kind IS 'post, ad, news, question, ...';
COMMENT ON COLUMN stimuli.source IS 'who speaks, for example the brand or a newspaper';
COMMENT ON COLUMN stimuli.text IS 'what is said';
COMMENT ON COLUMN stimuli.claim_id IS 'claim that it is about; NULL for none';
COMMENT ON COLUMN stimuli.stance IS 'what it says about the claim: -1 denies, 1 affirms; NULL for none';
COMMENT ON COLUMN stimuli.credibility IS 'how far its source is believed, [0, 1]';
COMMENT ON COLUMN stimuli.stream_index IS 'index of the random draws of who is shown it; of no other event of this run';

CREATE TABLE posts (
    post_id BIGINT NOT NULL,
    tick INTEGER NOT NULL,
    author VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    parent_id BIGINT,
    claim_id VARCHAR,
    text VARCHAR USING COMPRESSION zstd NOT NULL,
    valence DOUBLE,
    credibility DOUBLE NOT NULL,
    addressee VARCHAR,
    stimulus_id VARCHAR,
    embedding_id BIGINT NOT NULL
);
COMMENT ON TABLE posts IS
    'Everything published: posts, comments, replies, quotes, reposts, questions, answers, complaints and stimuli.';
COMMENT ON COLUMN posts.post_id IS 'id of the post, in order of publication';
COMMENT ON COLUMN posts.tick IS 'tick in which it was written; an event of the scenario is seen at once, other posts from the next tick on';
COMMENT ON COLUMN posts.author IS 'persona id, or source of the stimulus';
COMMENT ON COLUMN posts.kind IS
    'post, comment, reply, quote, repost, ask_peer, answer, complain, ..., or the kind of the stimulus';
COMMENT ON COLUMN posts.parent_id IS 'the post that it answers, quotes or repeats; NULL for none';
COMMENT ON COLUMN posts.claim_id IS 'claim that it is about; NULL for none';
COMMENT ON COLUMN posts.text IS 'what is said';
COMMENT ON COLUMN posts.valence IS 'for or against its claim: -1 against, 1 for; NULL for none';
COMMENT ON COLUMN posts.credibility IS 'how far it is believed, [0, 1]';
COMMENT ON COLUMN posts.addressee IS 'persona that it is addressed to; NULL for everyone who follows the author';
COMMENT ON COLUMN posts.stimulus_id IS 'the scenario''s event that it is; NULL for a post by a persona';
COMMENT ON COLUMN posts.embedding_id IS 'vector of its text in embeddings';

CREATE TABLE exposures (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    post_id BIGINT,
    stimulus_id VARCHAR,
    position INTEGER NOT NULL,
    score DOUBLE
);
COMMENT ON TABLE exposures IS 'What was shown to whom: one row per persona, tick and item of its feed.';
COMMENT ON COLUMN exposures.tick IS 'tick in which it was seen';
COMMENT ON COLUMN exposures.persona_id IS 'persona that saw it';
COMMENT ON COLUMN exposures.post_id IS 'post seen; NULL if the item is no post';
COMMENT ON COLUMN exposures.stimulus_id IS 'the scenario''s event seen; NULL for a post by a persona';
COMMENT ON COLUMN exposures.position IS 'place in the ranked feed; 0 is the stimulus of the turn';
COMMENT ON COLUMN exposures.score IS 'what ranked the item, higher first';

CREATE TABLE turns (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    turn_no INTEGER NOT NULL,
    tier VARCHAR NOT NULL,
    stimulus_text VARCHAR,
    action VARCHAR NOT NULL,
    target_id VARCHAR,
    claim_id VARCHAR,
    text VARCHAR USING COMPRESSION zstd,
    importance DOUBLE NOT NULL,
    max_abs_delta DOUBLE NOT NULL,
    source VARCHAR NOT NULL,
    error VARCHAR
);
COMMENT ON TABLE turns IS 'One row per persona turn.';
COMMENT ON COLUMN turns.tick IS 'tick of the turn';
COMMENT ON COLUMN turns.persona_id IS 'persona that took the turn';
COMMENT ON COLUMN turns.turn_no IS 'number of the turn for this persona, from 1';
COMMENT ON COLUMN turns.tier IS 'tier of the model asked: cheap or frontier';
COMMENT ON COLUMN turns.stimulus_text IS 'exact text of what the persona was looking at';
COMMENT ON COLUMN turns.action IS
    'what it did: ignore, like, upvote, downvote, follow, repost, answer, post, comment, reply, quote, ask_peer, complain, buy or reject';
COMMENT ON COLUMN turns.target_id IS 'post or persona (follow, ask_peer) acted upon; NULL for none';
COMMENT ON COLUMN turns.claim_id IS 'claim that the action is about; NULL for none';
COMMENT ON COLUMN turns.text IS 'what it said; empty when the action has no words';
COMMENT ON COLUMN turns.importance IS 'importance of the turn''s memory, [0, 1]';
COMMENT ON COLUMN turns.max_abs_delta IS 'largest applied belief change of the turn, [0, 1]';
COMMENT ON COLUMN turns.source IS
    'who answered: rule, model or fallback (the rule model, after a failed answer)';
COMMENT ON COLUMN turns.error IS 'why the model''s own answer was not used; NULL for none';

CREATE TABLE belief_changes (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    phase VARCHAR NOT NULL,
    target VARCHAR NOT NULL,
    requested DOUBLE,
    before DOUBLE NOT NULL,
    after DOUBLE NOT NULL,
    cause_post_id BIGINT,
    cause_stimulus_id VARCHAR
);
COMMENT ON TABLE belief_changes IS 'One row per target that a turn or a reflection changed.';
COMMENT ON COLUMN belief_changes.tick IS 'tick of the change';
COMMENT ON COLUMN belief_changes.persona_id IS 'persona whose belief changed';
COMMENT ON COLUMN belief_changes.phase IS 'turn or reflection; within a tick the turn comes first';
COMMENT ON COLUMN belief_changes.target IS 'dimension or claim id';
COMMENT ON COLUMN belief_changes.requested IS
    'turn: the signed change asked for, before clipping; reflection: the value asked for';
COMMENT ON COLUMN belief_changes.before IS 'belief before, [0, 1]';
COMMENT ON COLUMN belief_changes.after IS 'belief after, [0, 1]';
COMMENT ON COLUMN belief_changes.cause_post_id IS 'post that moved it; NULL for none';
COMMENT ON COLUMN belief_changes.cause_stimulus_id IS 'the scenario''s event that moved it; NULL for none';

CREATE TABLE memories (
    memory_id BIGINT NOT NULL,
    persona_id VARCHAR NOT NULL,
    tick INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    text VARCHAR USING COMPRESSION zstd NOT NULL,
    importance DOUBLE NOT NULL,
    valence DOUBLE,
    arousal DOUBLE,
    dominance DOUBLE,
    specificity VARCHAR NOT NULL,
    claim_id VARCHAR,
    stance DOUBLE,
    embedding_id BIGINT,
    evicted_tick INTEGER
);
COMMENT ON TABLE memories IS 'One row per memory, also those forgotten since.';
COMMENT ON COLUMN memories.memory_id IS 'id of the memory, in order of writing';
COMMENT ON COLUMN memories.persona_id IS 'persona that remembers';
COMMENT ON COLUMN memories.tick IS 'tick in which it was written; it can be recalled from the next tick on';
COMMENT ON COLUMN memories.kind IS 'turn, reflection or seed (given at the start)';
COMMENT ON COLUMN memories.text IS 'the memory in the persona''s own words';
COMMENT ON COLUMN memories.importance IS '[0, 1]';
COMMENT ON COLUMN memories.valence IS 'affect of the memory, [-1, 1]; NULL without affect, as always in this version';
COMMENT ON COLUMN memories.arousal IS 'affect of the memory, [0, 1]; NULL without affect, as always in this version';
COMMENT ON COLUMN memories.dominance IS 'affect of the memory, [0, 1]; NULL without affect, as always in this version';
COMMENT ON COLUMN memories.specificity IS 'specific or overgeneral';
COMMENT ON COLUMN memories.claim_id IS 'claim that it is about; NULL for none';
COMMENT ON COLUMN memories.stance IS 'how the persona felt about the claim then: -1 against, 1 for; NULL for none';
COMMENT ON COLUMN memories.embedding_id IS 'its vector in embeddings';
COMMENT ON COLUMN memories.evicted_tick IS 'tick at whose end it was forgotten; NULL while it is held';

CREATE TABLE embedding_rows (
    embedding_id BIGINT NOT NULL,
    tick INTEGER NOT NULL,
    text VARCHAR USING COMPRESSION zstd NOT NULL,
    text_sha256 VARCHAR NOT NULL,
    quantised BLOB USING COMPRESSION uncompressed NOT NULL,
    scale FLOAT NOT NULL
);
COMMENT ON TABLE embedding_rows IS
    'Storage of the view embeddings: one row per distinct embedded text, quantised to int8.';
COMMENT ON COLUMN embedding_rows.embedding_id IS 'id of the embedded text';
COMMENT ON COLUMN embedding_rows.tick IS 'tick in which the text was first met; 0 is the start';
COMMENT ON COLUMN embedding_rows.text IS 'the text';
COMMENT ON COLUMN embedding_rows.text_sha256 IS 'SHA-256 of the text''s UTF-8 bytes, hexadecimal';
COMMENT ON COLUMN embedding_rows.quantised IS 'the vector divided by scale: signed bytes, as many as the encoder is wide';
COMMENT ON COLUMN embedding_rows.scale IS 'factor from quantised to the vector, > 0';

CREATE TABLE recalls (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    slot INTEGER NOT NULL,
    memory_id BIGINT NOT NULL,
    path VARCHAR NOT NULL,
    query VARCHAR,
    recency DOUBLE,
    importance DOUBLE,
    relevance DOUBLE,
    score DOUBLE
);
COMMENT ON TABLE recalls IS 'One row per memory put before a persona in a turn.';
COMMENT ON COLUMN recalls.tick IS 'tick of the turn';
COMMENT ON COLUMN recalls.persona_id IS 'persona that recalled';
COMMENT ON COLUMN recalls.slot IS 'place among the recalled memories, from 1';
COMMENT ON COLUMN recalls.memory_id IS 'memory recalled';
COMMENT ON COLUMN recalls.path IS 'how it was found: product, redirect, passive, active, semantic, hybrid, ...';
COMMENT ON COLUMN recalls.query IS 'text that relevance and score refer to';
COMMENT ON COLUMN recalls.recency IS 'exp(-age / tau), (0, 1]';
COMMENT ON COLUMN recalls.importance IS 'importance of the memory, [0, 1]';
COMMENT ON COLUMN recalls.relevance IS 'cosine of memory and query, clipped to [0, 1]';
COMMENT ON COLUMN recalls.score IS
    'what ranked it: recency * importance * relevance, the passive score for redirect and passive, or what the mode scores by';

CREATE TABLE gates (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    step INTEGER NOT NULL,
    memory_id BIGINT NOT NULL,
    mode VARCHAR NOT NULL,
    query VARCHAR,
    semantic DOUBLE,
    retention DOUBLE,
    affect_match DOUBLE,
    relation DOUBLE,
    passive_score DOUBLE,
    threshold DOUBLE,
    arousal DOUBLE,
    probability DOUBLE,
    draw DOUBLE,
    fired BOOLEAN NOT NULL
);
COMMENT ON TABLE gates IS 'One row per decision of the redirection gate; none without personality.';
COMMENT ON COLUMN gates.tick IS 'tick of the turn';
COMMENT ON COLUMN gates.persona_id IS 'persona that recalled';
COMMENT ON COLUMN gates.step IS 'step of the search, from 1';
COMMENT ON COLUMN gates.memory_id IS 'the passive draw under decision';
COMMENT ON COLUMN gates.mode IS 'personality, neutral or off';
COMMENT ON COLUMN gates.query IS 'current query';
COMMENT ON COLUMN gates.semantic IS 'cosine of memory and query, clipped to [0, 1]';
COMMENT ON COLUMN gates.retention IS 'retention of the memory, (0, 1]';
COMMENT ON COLUMN gates.affect_match IS '1 - distance of the memory''s affect and the state / sqrt(6)';
COMMENT ON COLUMN gates.relation IS 'the personality relation R';
COMMENT ON COLUMN gates.passive_score IS 'passive score S of the memory';
COMMENT ON COLUMN gates.threshold IS 'threshold theta of the gate';
COMMENT ON COLUMN gates.arousal IS 'arousal of the state, [0, 1]';
COMMENT ON COLUMN gates.probability IS 'probability that the gate fires, [0, 1]';
COMMENT ON COLUMN gates.draw IS 'the uniform draw, [0, 1)';
COMMENT ON COLUMN gates.fired IS 'whether the memory redirected the search';

CREATE TABLE affects (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    phase VARCHAR NOT NULL,
    raw_valence DOUBLE,
    raw_arousal DOUBLE,
    raw_dominance DOUBLE,
    valence DOUBLE,
    arousal DOUBLE,
    dominance DOUBLE,
    state_valence DOUBLE,
    state_arousal DOUBLE,
    state_dominance DOUBLE
);
COMMENT ON TABLE affects IS 'One row per appraisal; none without personality.';
COMMENT ON COLUMN affects.tick IS 'tick of the turn';
COMMENT ON COLUMN affects.persona_id IS 'persona that felt it';
COMMENT ON COLUMN affects.phase IS 'in (what it perceived) or out (its own reply)';
COMMENT ON COLUMN affects.raw_valence IS 'before personality, [-1, 1]';
COMMENT ON COLUMN affects.raw_arousal IS 'before personality, [0, 1]';
COMMENT ON COLUMN affects.raw_dominance IS 'before personality, [0, 1]';
COMMENT ON COLUMN affects.valence IS 'after personality, [-1, 1]';
COMMENT ON COLUMN affects.arousal IS 'after personality, [0, 1]';
COMMENT ON COLUMN affects.dominance IS 'after personality, [0, 1]';
COMMENT ON COLUMN affects.state_valence IS 'affective state afterwards, [-1, 1]';
COMMENT ON COLUMN affects.state_arousal IS 'affective state afterwards, [0, 1]';
COMMENT ON COLUMN affects.state_dominance IS 'affective state afterwards, [0, 1]';

CREATE TABLE appraisals (
    embedding_id BIGINT NOT NULL,
    tick INTEGER NOT NULL,
    valence DOUBLE NOT NULL,
    arousal DOUBLE NOT NULL,
    dominance DOUBLE NOT NULL,
    error VARCHAR
);
COMMENT ON TABLE appraisals IS
    'Raw affects of texts, before any personality: one row per text that was appraised; none in a run without personality.';
COMMENT ON COLUMN appraisals.embedding_id IS 'the text, in embeddings';
COMMENT ON COLUMN appraisals.tick IS 'tick in which it was appraised';
COMMENT ON COLUMN appraisals.valence IS '[-1, 1]';
COMMENT ON COLUMN appraisals.arousal IS '[0, 1]';
COMMENT ON COLUMN appraisals.dominance IS '[0, 1]';
COMMENT ON COLUMN appraisals.error IS 'why it could not be appraised and has neutral values; NULL for nothing';

CREATE TABLE reflections (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    trigger VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    memory_ids BIGINT[] NOT NULL,
    error VARCHAR
);
COMMENT ON TABLE reflections IS 'One row per reflection.';
COMMENT ON COLUMN reflections.tick IS 'tick of the reflection';
COMMENT ON COLUMN reflections.persona_id IS 'persona that reflected';
COMMENT ON COLUMN reflections.trigger IS 'cadence or sharp_move';
COMMENT ON COLUMN reflections.source IS
    'who answered: rule, model or fallback (by rule, after a failed answer)';
COMMENT ON COLUMN reflections.memory_ids IS 'memories that it wrote';
COMMENT ON COLUMN reflections.error IS 'why the model''s own answer was not used; NULL for none';

CREATE TABLE probes (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    attribute VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    expected VARCHAR NOT NULL,
    answer VARCHAR,
    agrees BOOLEAN
);
COMMENT ON TABLE probes IS 'One row per drift probe question.';
COMMENT ON COLUMN probes.tick IS 'tick of the probe';
COMMENT ON COLUMN probes.persona_id IS 'persona that was asked';
COMMENT ON COLUMN probes.attribute IS 'attribute of the persona that the question is about';
COMMENT ON COLUMN probes.question IS 'question asked';
COMMENT ON COLUMN probes.expected IS 'the attribute''s value';
COMMENT ON COLUMN probes.answer IS 'what the persona said; NULL if the call failed';
COMMENT ON COLUMN probes.agrees IS 'whether the answer means the attribute''s value; NULL if the call failed';

CREATE TABLE evidence (
    tick INTEGER NOT NULL,
    post_id BIGINT NOT NULL,
    object_type VARCHAR NOT NULL,
    object VARCHAR NOT NULL,
    aspect VARCHAR NOT NULL,
    positive DOUBLE NOT NULL,
    negative DOUBLE NOT NULL,
    neutral DOUBLE NOT NULL,
    strength DOUBLE NOT NULL,
    summary VARCHAR,
    source VARCHAR NOT NULL
);
COMMENT ON TABLE evidence IS
    'What posts say: one row per post and side of the brand or of a claim that it says something about.';
COMMENT ON COLUMN evidence.tick IS 'tick in which the post was published';
COMMENT ON COLUMN evidence.post_id IS 'post that says it';
COMMENT ON COLUMN evidence.object_type IS 'brand or claim';
COMMENT ON COLUMN evidence.object IS 'name of the brand, or claim id';
COMMENT ON COLUMN evidence.aspect IS 'side of the object, a dimension';
COMMENT ON COLUMN evidence.positive IS 'share of what is said that is positive, in thousandths; the three sum to 1';
COMMENT ON COLUMN evidence.negative IS 'share that is negative';
COMMENT ON COLUMN evidence.neutral IS 'share that is neutral';
COMMENT ON COLUMN evidence.strength IS 'how clearly it is said, (0, 1], in thousandths';
COMMENT ON COLUMN evidence.summary IS 'what is said, in words; NULL where a post''s stance says it';
COMMENT ON COLUMN evidence.source IS 'who found it: rule, model, or fallback (by rule, as the model''s answer could not be used)';

CREATE TABLE unit_rows (
    unit_id BIGINT NOT NULL,
    persona_id VARCHAR NOT NULL,
    object_type VARCHAR NOT NULL,
    object VARCHAR NOT NULL,
    aspect VARCHAR NOT NULL,
    created_tick INTEGER NOT NULL
);
COMMENT ON TABLE unit_rows IS
    'Storage of the view units: one row per memory unit, as it was founded.';
COMMENT ON COLUMN unit_rows.unit_id IS 'id of the unit';
COMMENT ON COLUMN unit_rows.persona_id IS 'persona that holds it';
COMMENT ON COLUMN unit_rows.object_type IS 'kind of object: brand, claim or peer';
COMMENT ON COLUMN unit_rows.object IS 'name of the brand, claim id or persona id';
COMMENT ON COLUMN unit_rows.aspect IS 'side of the object that it was founded about, a dimension';
COMMENT ON COLUMN unit_rows.created_tick IS 'tick of the first evidence';

CREATE TABLE unit_updates (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    step INTEGER NOT NULL,
    unit_id BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    other_unit_id BIGINT,
    cause_post_id BIGINT,
    summary VARCHAR,
    strength DOUBLE,
    p_positive DOUBLE,
    p_negative DOUBLE,
    p_neutral DOUBLE,
    positive DOUBLE NOT NULL,
    negative DOUBLE NOT NULL,
    neutral DOUBLE NOT NULL,
    weight DOUBLE NOT NULL,
    entropy DOUBLE NOT NULL,
    observations INTEGER NOT NULL,
    aspects VARCHAR[]
);
COMMENT ON TABLE unit_updates IS
    'One row per change of a memory unit: evidence taken in, another unit merged into it, or its end.';
COMMENT ON COLUMN unit_updates.tick IS 'tick of the change';
COMMENT ON COLUMN unit_updates.persona_id IS 'persona that holds the unit';
COMMENT ON COLUMN unit_updates.step IS 'number of the change among those of the persona in this tick, from 1: first evidence, then merges, then deletions';
COMMENT ON COLUMN unit_updates.unit_id IS 'unit changed; of a merge the one that survives';
COMMENT ON COLUMN unit_updates.kind IS 'evidence, merge or delete';
COMMENT ON COLUMN unit_updates.other_unit_id IS 'unit merged into this one; NULL for none';
COMMENT ON COLUMN unit_updates.cause_post_id IS 'post that counted most in the evidence; NULL where a deed alone did';
COMMENT ON COLUMN unit_updates.summary IS 'the view in words, afterwards';
COMMENT ON COLUMN unit_updates.strength IS 'strength S of the evidence, (0, 1], in thousandths; NULL but for evidence';
COMMENT ON COLUMN unit_updates.p_positive IS 'polarity of the evidence, share positive, in thousandths';
COMMENT ON COLUMN unit_updates.p_negative IS 'polarity of the evidence, share negative';
COMMENT ON COLUMN unit_updates.p_neutral IS 'polarity of the evidence, share neutral';
COMMENT ON COLUMN unit_updates.positive IS 'confidence positive, afterwards';
COMMENT ON COLUMN unit_updates.negative IS 'confidence negative, afterwards';
COMMENT ON COLUMN unit_updates.neutral IS 'confidence neutral, afterwards';
COMMENT ON COLUMN unit_updates.weight IS 'weight, afterwards';
COMMENT ON COLUMN unit_updates.entropy IS 'belief entropy in bits, afterwards';
COMMENT ON COLUMN unit_updates.observations IS 'pieces of evidence in it, afterwards';
COMMENT ON COLUMN unit_updates.aspects IS 'of a merge: all sides that the unit answers for, afterwards; else NULL';

CREATE TABLE surveys (
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    answer VARCHAR,
    scale_pmf DOUBLE[]
);
COMMENT ON TABLE surveys IS 'One row per persona asked in a survey; none without surveys.';
COMMENT ON COLUMN surveys.tick IS 'tick of the survey';
COMMENT ON COLUMN surveys.persona_id IS 'persona that was asked';
COMMENT ON COLUMN surveys.question_id IS 'id of the question in the scenario';
COMMENT ON COLUMN surveys.answer IS
    'what the persona answered, at most 1,000 characters; NULL if there is no usable answer (see rejections)';
COMMENT ON COLUMN surveys.scale_pmf IS
    'probability of each point of the scale, lowest first, sums to 1; of a choice 1 for what was chosen; NULL without an answer';

CREATE TABLE model_calls (
    call_id BIGINT NOT NULL,
    tick INTEGER NOT NULL,
    persona_id VARCHAR,
    purpose VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    provider VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    request_sha256 VARCHAR NOT NULL,
    request JSON USING COMPRESSION zstd,
    response JSON USING COMPRESSION zstd,
    input_tokens BIGINT,
    cached_tokens BIGINT,
    written_tokens BIGINT,
    output_tokens BIGINT,
    cost_usd DOUBLE,
    latency_s DOUBLE,
    attempts INTEGER NOT NULL,
    billed INTEGER NOT NULL,
    unconfirmed_usd DOUBLE NOT NULL,
    unconfirmed_tokens BIGINT NOT NULL,
    outcome VARCHAR NOT NULL,
    error VARCHAR
);
COMMENT ON TABLE model_calls IS
    'One row per request put to a language model; the rule model makes none. Committed as the replies come.';
COMMENT ON COLUMN model_calls.call_id IS 'id of the call';
COMMENT ON COLUMN model_calls.tick IS
    'tick that asked; may be last_tick + 1 after a crash, so that nothing paid for is lost';
COMMENT ON COLUMN model_calls.persona_id IS 'persona that was asked; NULL where the question is about a text';
COMMENT ON COLUMN model_calls.purpose IS
    'turn, reflection, probe, appraisal, importance, extraction, controller, survey or interview';
COMMENT ON COLUMN model_calls.attempt IS
    '1 for the first request of a question, 2 for its repair, and so on';
COMMENT ON COLUMN model_calls.provider IS 'who was asked';
COMMENT ON COLUMN model_calls.model IS 'name of the model';
COMMENT ON COLUMN model_calls.request_sha256 IS 'SHA-256 of the request, hexadecimal';
COMMENT ON COLUMN model_calls.request IS
    'the request, without keys and headers; NULL with log.requests: digest';
COMMENT ON COLUMN model_calls.response IS 'the answer; NULL if there was none';
COMMENT ON COLUMN model_calls.input_tokens IS 'tokens read, as billed';
COMMENT ON COLUMN model_calls.cached_tokens IS 'of those, read from the provider''s cache';
COMMENT ON COLUMN model_calls.written_tokens IS 'of those, written into the provider''s cache';
COMMENT ON COLUMN model_calls.output_tokens IS 'tokens written, as billed';
COMMENT ON COLUMN model_calls.cost_usd IS
    'price in US dollars; NULL where tokens or prices are not known; of a replayed answer what it had cost';
COMMENT ON COLUMN model_calls.latency_s IS 'seconds from request to answer, of the last try';
COMMENT ON COLUMN model_calls.attempts IS 'times this request was sent until it was answered or given up; 0 for a replayed answer';
COMMENT ON COLUMN model_calls.billed IS 'of those, times that may have been billed';
COMMENT ON COLUMN model_calls.unconfirmed_usd IS
    'price, at most, of times that may have been billed without an account of it; counts against the budget';
COMMENT ON COLUMN model_calls.unconfirmed_tokens IS
    'tokens, at most, of times that may have been billed without an account of it; count against the budget';
COMMENT ON COLUMN model_calls.outcome IS 'ok, repaired, invalid, refused or error';
COMMENT ON COLUMN model_calls.error IS 'what went wrong; NULL for nothing';

CREATE TABLE rejections (
    tick INTEGER NOT NULL,
    persona_id VARCHAR,
    purpose VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    detail VARCHAR NOT NULL
);
COMMENT ON TABLE rejections IS
    'Things refused or dropped: an unknown belief name, a bad rating, an invalid reaction, a quarantine, edges of a file.';
COMMENT ON COLUMN rejections.tick IS 'tick in which it happened';
COMMENT ON COLUMN rejections.persona_id IS 'persona whose answer it was; NULL for a graph''s edges';
COMMENT ON COLUMN rejections.purpose IS 'what was asked for: turn, reflection, probe, ...; graph for edges of a file';
COMMENT ON COLUMN rejections.kind IS 'what was wrong, as a fixed word';
COMMENT ON COLUMN rejections.detail IS 'what was wrong, in words';

CREATE TABLE ticks (
    tick INTEGER NOT NULL,
    active INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    reflections INTEGER NOT NULL,
    probes INTEGER NOT NULL,
    model_calls INTEGER NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_usd DOUBLE NOT NULL,
    wall_s DOUBLE NOT NULL,
    unit_entropy DOUBLE,
    state_digest VARCHAR NOT NULL
);
COMMENT ON TABLE ticks IS 'One row per finished tick, and one for the start as tick 0.';
COMMENT ON COLUMN ticks.tick IS 'number of the tick, from 1; 0 is the state before the first';
COMMENT ON COLUMN ticks.active IS 'personas that took a turn';
COMMENT ON COLUMN ticks.turns IS 'turns taken';
COMMENT ON COLUMN ticks.reflections IS 'reflections made';
COMMENT ON COLUMN ticks.probes IS 'probe questions asked';
COMMENT ON COLUMN ticks.model_calls IS 'requests put to language models';
COMMENT ON COLUMN ticks.input_tokens IS 'tokens read';
COMMENT ON COLUMN ticks.output_tokens IS 'tokens written';
COMMENT ON COLUMN ticks.cost_usd IS 'price in US dollars of what was sent; replayed answers cost nothing';
COMMENT ON COLUMN ticks.wall_s IS 'seconds that the tick took; differs from run to run';
COMMENT ON COLUMN ticks.unit_entropy IS 'sum of the belief entropies of all living memory units, in bits; NULL with memory.units off';
COMMENT ON COLUMN ticks.state_digest IS
    'SHA-256 of the state after the tick; equal for equal scenario, seed and engine';
