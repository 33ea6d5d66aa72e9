-- The views of a run database: what people ask for most, answered from the tables of schema.sql.

-- Each state is written once and holds until the next change; a view that lists it for every tick
-- turns [tick, until) into rows. That is one window and one unnest, linear in the result.
CREATE VIEW beliefs AS
WITH states AS (
    SELECT 0 AS tick, persona_id, target, belief FROM initial_beliefs
    UNION ALL
    -- Within a tick the reflection comes after the turn, so its value is the tick's last.
    SELECT tick, persona_id, target, arg_max(after, phase = 'reflection')
    FROM belief_changes GROUP BY tick, persona_id, target
),
spans AS (
    SELECT *, lead(tick, 1, (SELECT last_tick + 1 FROM run)) OVER (
        PARTITION BY persona_id, target ORDER BY tick
    ) AS until
    FROM states
)
SELECT CAST(unnest(range(tick, until)) AS INTEGER) AS tick, persona_id, target, belief
FROM spans;
COMMENT ON VIEW beliefs IS 'State of every belief after each tick, from tick 0 to the last: one row per tick, persona and target.';
COMMENT ON COLUMN beliefs.tick IS 'state after this tick; 0 is the start';
COMMENT ON COLUMN beliefs.persona_id IS 'persona that holds the belief';
COMMENT ON COLUMN beliefs.target IS 'dimension or claim id';
COMMENT ON COLUMN beliefs.belief IS 'value of the dimension or credence of the claim, [0, 1]';

CREATE VIEW belief_summary AS
SELECT
    tick,
    target,
    count(*) AS personas,
    avg(belief) AS mean,
    stddev_pop(belief) AS sd,
    quantile_cont(belief, 0.1) AS p10,
    quantile_cont(belief, 0.5) AS p50,
    quantile_cont(belief, 0.9) AS p90,
    avg(CAST(belief > 0.5 AS DOUBLE)) AS share_above_half
FROM beliefs GROUP BY tick, target;
COMMENT ON VIEW belief_summary IS 'How a belief is spread over the population: one row per tick and target.';
COMMENT ON COLUMN belief_summary.tick IS 'state after this tick; 0 is the start';
COMMENT ON COLUMN belief_summary.target IS 'dimension or claim id';
COMMENT ON COLUMN belief_summary.personas IS 'personas that hold the belief';
COMMENT ON COLUMN belief_summary.mean IS 'mean belief';
COMMENT ON COLUMN belief_summary.sd IS 'standard deviation over the population (divided by n)';
COMMENT ON COLUMN belief_summary.p10 IS '10th percentile, interpolated';
COMMENT ON COLUMN belief_summary.p50 IS 'median, interpolated';
COMMENT ON COLUMN belief_summary.p90 IS '90th percentile, interpolated';
COMMENT ON COLUMN belief_summary.share_above_half IS 'share of personas with a belief above 0.5';

CREATE VIEW action_counts AS
SELECT
    tick,
    action,
    count(*) AS turns,
    count(*) / sum(count(*)) OVER (PARTITION BY tick) AS share
FROM turns GROUP BY tick, action;
COMMENT ON VIEW action_counts IS 'What people did: one row per tick and action that occurred.';
COMMENT ON COLUMN action_counts.tick IS 'tick of the turns';
COMMENT ON COLUMN action_counts.action IS 'action taken';
COMMENT ON COLUMN action_counts.turns IS 'turns with this action';
COMMENT ON COLUMN action_counts.share IS 'share of the turns of the tick, [0, 1]';

CREATE VIEW claim_flips AS
WITH moves AS (
    SELECT
        tick,
        persona_id,
        target,
        arg_min(before, phase = 'reflection') AS before,
        arg_max(after, phase = 'reflection') AS after,
        -- The larger of the tick's two moves says why; a row is packed so that its parts stay together.
        arg_max(
            struct_pack(phase := phase, post := cause_post_id, stimulus := cause_stimulus_id),
            struct_pack(size := abs(after - before), turn := phase = 'turn')
        ) AS cause
    FROM belief_changes
    WHERE target IN (SELECT claim_id FROM claims)
    GROUP BY tick, persona_id, target
),
states AS (
    SELECT 0 AS tick, persona_id, target, belief AS before, belief AS after, NULL AS cause
    FROM initial_beliefs WHERE target IN (SELECT claim_id FROM claims)
    UNION ALL
    SELECT tick, persona_id, target, before, after, cause FROM moves
),
-- A side is remembered through a stay at exactly 0.5, so leaving the undecided start is no crossing.
sides AS (
    SELECT *, last_value(nullif(sign(after - 0.5), 0) IGNORE NULLS) OVER (
        PARTITION BY persona_id, target ORDER BY tick
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS side_before
    FROM states
),
flips AS (
    SELECT
        tick,
        persona_id,
        target AS claim_id,
        before,
        after,
        after - before AS change,
        coalesce(sign(after - 0.5) = -side_before, false) AS crossed,
        abs(after - before) > 0.3 + 1e-6 AS jumped,
        cause.phase AS phase,
        cause.post AS cause_post_id,
        cause.stimulus AS cause_stimulus_id
    FROM sides WHERE tick > 0
)
SELECT flips.*, posts.author AS cause_author, coalesce(posts.text, stimuli.text) AS cause_text
FROM flips
LEFT JOIN posts ON posts.post_id = flips.cause_post_id
LEFT JOIN stimuli ON stimuli.stimulus_id = flips.cause_stimulus_id
WHERE crossed OR jumped;
COMMENT ON VIEW claim_flips IS 'Changes of mind: one row per tick, persona and claim whose credence crossed 0.5 or moved by more than 0.3.';
COMMENT ON COLUMN claim_flips.tick IS 'tick of the change';
COMMENT ON COLUMN claim_flips.persona_id IS 'persona that changed its mind';
COMMENT ON COLUMN claim_flips.claim_id IS 'claim of the brief';
COMMENT ON COLUMN claim_flips.before IS 'credence before the tick';
COMMENT ON COLUMN claim_flips.after IS 'credence after the tick';
COMMENT ON COLUMN claim_flips.change IS 'after - before';
COMMENT ON COLUMN claim_flips.crossed IS 'whether it is now on the other side of 0.5 than when it last was off 0.5';
COMMENT ON COLUMN claim_flips.jumped IS 'whether it moved by more than 0.3 within the tick';
COMMENT ON COLUMN claim_flips.phase IS 'turn or reflection, whichever moved it more';
COMMENT ON COLUMN claim_flips.cause_post_id IS 'post that moved it; NULL for none';
COMMENT ON COLUMN claim_flips.cause_stimulus_id IS 'event of the scenario that moved it; NULL for none';
COMMENT ON COLUMN claim_flips.cause_author IS 'who wrote the post that moved it';
COMMENT ON COLUMN claim_flips.cause_text IS 'text of what moved it';

CREATE VIEW drift AS
WITH asked AS (
    SELECT
        tick,
        persona_id,
        count(*) AS questions,
        count(agrees) AS answers,
        count(*) FILTER (NOT agrees) AS disagreeing
    FROM probes GROUP BY tick, persona_id
)
SELECT
    tick,
    count(*) AS personas,
    count(*) FILTER (disagreeing > 0) AS disagreeing_personas,
    count(*) FILTER (disagreeing > 0) / nullif(count(*) FILTER (answers > 0), 0) AS persona_share,
    CAST(sum(questions) AS BIGINT) AS questions,
    CAST(sum(answers) AS BIGINT) AS answers,
    CAST(sum(disagreeing) AS BIGINT) AS disagreeing_answers,
    sum(disagreeing) / nullif(sum(answers), 0) AS answer_share
FROM asked GROUP BY tick;
COMMENT ON VIEW drift IS 'How often probed personas contradict their own attributes: one row per probe tick.';
COMMENT ON COLUMN drift.tick IS 'tick of the probes';
COMMENT ON COLUMN drift.personas IS 'personas probed';
COMMENT ON COLUMN drift.disagreeing_personas IS 'personas with at least one answer that disagrees';
COMMENT ON COLUMN drift.persona_share IS 'disagreeing share of the personas that answered; NULL if none did';
COMMENT ON COLUMN drift.questions IS 'questions asked';
COMMENT ON COLUMN drift.answers IS 'questions answered; a failed call is no answer';
COMMENT ON COLUMN drift.disagreeing_answers IS 'answers that disagree';
COMMENT ON COLUMN drift.answer_share IS 'disagreeing share of the answers; NULL if there are none';

CREATE VIEW survey_summary AS
WITH points AS (
    SELECT
        tick,
        question_id,
        persona_id,
        unnest(range(1, len(scale_pmf) + 1)) AS point,
        unnest(scale_pmf) AS probability
    FROM surveys WHERE scale_pmf IS NOT NULL
),
expected AS (
    SELECT tick, question_id, persona_id, sum(point * probability) AS point
    FROM points GROUP BY tick, question_id, persona_id
),
means AS (
    SELECT tick, question_id, avg(point) AS mean, stddev_pop(point) AS sd
    FROM expected GROUP BY tick, question_id
),
shares AS (
    SELECT tick, question_id, point, avg(probability) AS share
    FROM points GROUP BY tick, question_id, point
),
spread AS (
    SELECT tick, question_id, list(share ORDER BY point) AS shares FROM shares GROUP BY tick, question_id
),
asked AS (
    SELECT tick, question_id, count(*) AS asked, count(answer) AS answered
    FROM surveys GROUP BY tick, question_id
)
SELECT tick, question_id, asked, answered, mean, sd, shares
FROM asked LEFT JOIN means USING (tick, question_id) LEFT JOIN spread USING (tick, question_id);
COMMENT ON VIEW survey_summary IS 'What a population answers: one row per tick and survey question.';
COMMENT ON COLUMN survey_summary.tick IS 'tick of the survey';
COMMENT ON COLUMN survey_summary.question_id IS 'id of the question in the scenario';
COMMENT ON COLUMN survey_summary.asked IS 'personas asked';
COMMENT ON COLUMN survey_summary.answered IS 'personas with a usable answer';
COMMENT ON COLUMN survey_summary.mean IS 'mean over the answers of their expected point, from 1; NULL without answers';
COMMENT ON COLUMN survey_summary.sd IS 'standard deviation of the expected points (divided by n); NULL without answers';
COMMENT ON COLUMN survey_summary.shares IS 'mean probability of each point, lowest first; of a choice the share that chose it; NULL without answers';

CREATE VIEW spend AS
SELECT
    tick,
    purpose,
    provider,
    model,
    count(*) AS calls,
    count(*) FILTER (NOT paid) AS replayed,
    CAST(coalesce(sum(input_tokens), 0) AS BIGINT) AS input_tokens,
    CAST(coalesce(sum(cached_tokens), 0) AS BIGINT) AS cached_tokens,
    CAST(coalesce(sum(output_tokens), 0) AS BIGINT) AS output_tokens,
    coalesce(sum(cost_usd) FILTER (paid), 0) AS cost_usd,
    coalesce(sum(unconfirmed_usd) FILTER (paid), 0) AS unconfirmed_usd,
    coalesce(sum(cost_usd) FILTER (NOT paid), 0) AS replayed_usd,
    avg(latency_s) FILTER (paid) AS mean_latency_s
FROM (
    SELECT *, attempts > 0 AND tick > coalesce((SELECT forked_at_tick FROM run), -1) AS paid
    FROM model_calls
) GROUP BY tick, purpose, provider, model;
COMMENT ON VIEW spend IS 'What language models cost: one row per tick, purpose and model; empty for the rule model.';
COMMENT ON COLUMN spend.tick IS 'tick that asked';
COMMENT ON COLUMN spend.purpose IS 'what was asked for';
COMMENT ON COLUMN spend.provider IS 'who was asked';
COMMENT ON COLUMN spend.model IS 'name of the model';
COMMENT ON COLUMN spend.calls IS 'calls made, replayed ones included';
COMMENT ON COLUMN spend.replayed IS
    'of those, calls that an earlier run had answered and paid: of a replay, or of a fork''s parent';
COMMENT ON COLUMN spend.input_tokens IS 'tokens read';
COMMENT ON COLUMN spend.cached_tokens IS 'of those, read from the provider''s cache';
COMMENT ON COLUMN spend.output_tokens IS 'tokens written';
COMMENT ON COLUMN spend.cost_usd IS 'what this run paid, in US dollars';
COMMENT ON COLUMN spend.unconfirmed_usd IS
    'price, at most, of what may have been billed to this run without an account of it';
COMMENT ON COLUMN spend.replayed_usd IS 'what the replayed calls had cost the earlier run';
COMMENT ON COLUMN spend.mean_latency_s IS 'mean seconds from request to answer; NULL if all were replayed';

CREATE VIEW failures AS
WITH asked AS (
    SELECT tick, persona_id, 'turn' AS purpose FROM turns
    UNION ALL SELECT tick, persona_id, 'reflection' FROM reflections
    UNION ALL SELECT tick, persona_id, 'probe' FROM probes
    UNION ALL SELECT tick, persona_id, 'survey' FROM surveys
    UNION ALL SELECT tick, persona_id, 'appraisal' FROM affects
    UNION ALL SELECT tick, persona_id, purpose FROM model_calls
    UNION ALL SELECT tick, persona_id, purpose FROM rejections
    WHERE purpose <> 'graph' AND kind <> 'note'
),
faults AS (
    SELECT tick, persona_id, 'turn' AS purpose, 'fallback' AS fault FROM turns WHERE source = 'fallback'
    UNION ALL
    SELECT tick, persona_id, 'reflection', 'fallback' FROM reflections WHERE source = 'fallback'
    UNION ALL SELECT tick, persona_id, 'probe', 'unanswered' FROM probes WHERE answer IS NULL
    UNION ALL SELECT tick, persona_id, 'survey', 'unanswered' FROM surveys WHERE answer IS NULL
    UNION ALL SELECT tick, persona_id, purpose, outcome FROM model_calls WHERE outcome <> 'ok'
    UNION ALL SELECT tick, persona_id, purpose, 'rejected' FROM rejections
    WHERE purpose <> 'graph' AND kind NOT IN ('note', 'unused_target', 'unknown_key')
),
totals AS (
    SELECT tick, purpose, count(DISTINCT coalesce(persona_id, '')) AS asked FROM asked GROUP BY tick, purpose
),
failed AS (
    SELECT
        tick,
        purpose,
        count(DISTINCT coalesce(persona_id, '')) AS failed,
        count(*) FILTER (fault = 'fallback') AS fallback,
        count(*) FILTER (fault = 'unanswered') AS unanswered,
        count(*) FILTER (fault = 'rejected') AS rejected,
        count(*) FILTER (fault = 'repaired') AS repaired,
        count(*) FILTER (fault = 'invalid') AS invalid,
        count(*) FILTER (fault = 'refused') AS refused,
        count(*) FILTER (fault = 'error') AS error
    FROM faults GROUP BY tick, purpose
)
SELECT
    tick,
    purpose,
    asked,
    coalesce(failed, 0) AS failed,
    coalesce(failed, 0) / asked AS share,
    coalesce(fallback, 0) AS fallback,
    coalesce(unanswered, 0) AS unanswered,
    coalesce(rejected, 0) AS rejected,
    coalesce(repaired, 0) AS repaired,
    coalesce(invalid, 0) AS invalid,
    coalesce(refused, 0) AS refused,
    coalesce(error, 0) AS error
FROM totals LEFT JOIN failed USING (tick, purpose);
COMMENT ON VIEW failures IS 'How many answers were refused, invalid, repaired, dropped in part or replaced: one row per tick and purpose.';
COMMENT ON COLUMN failures.tick IS 'tick that asked';
COMMENT ON COLUMN failures.purpose IS 'what was asked for: turn, reflection, probe, ...';
COMMENT ON COLUMN failures.asked IS 'personas asked';
COMMENT ON COLUMN failures.failed IS 'personas with at least one fault of any kind below';
COMMENT ON COLUMN failures.share IS 'failed / asked, [0, 1]';
COMMENT ON COLUMN failures.fallback IS 'answers replaced by the rule model';
COMMENT ON COLUMN failures.unanswered IS 'questions without an answer';
COMMENT ON COLUMN failures.rejected IS
    'things refused in answers: rows of rejections, but for what nothing asked for (an unused target, an unknown key)';
COMMENT ON COLUMN failures.repaired IS 'calls whose answer was valid only after asking again';
COMMENT ON COLUMN failures.invalid IS 'calls without a valid answer';
COMMENT ON COLUMN failures.refused IS 'calls that the model refused';
COMMENT ON COLUMN failures.error IS 'calls that ended in an error';

CREATE VIEW memory_composition AS
WITH changes AS (
    SELECT 0 AS tick, persona_id, 0 AS held, 0 AS reflections FROM personas
    UNION ALL
    SELECT tick, persona_id, 1, CAST(kind = 'reflection' AS INTEGER) FROM memories
    UNION ALL
    SELECT evicted_tick, persona_id, -1, -CAST(kind = 'reflection' AS INTEGER)
    FROM memories WHERE evicted_tick IS NOT NULL
),
by_tick AS (
    SELECT tick, persona_id, sum(held) AS held, sum(reflections) AS reflections
    FROM changes GROUP BY tick, persona_id
),
spans AS (
    SELECT
        tick,
        persona_id,
        sum(held) OVER history AS held,
        sum(reflections) OVER history AS reflections,
        lead(tick, 1, (SELECT last_tick + 1 FROM run)) OVER history AS until
    FROM by_tick WINDOW history AS (PARTITION BY persona_id ORDER BY tick)
)
SELECT
    CAST(unnest(range(tick, until)) AS INTEGER) AS tick,
    persona_id,
    CAST(held AS INTEGER) AS held,
    CAST(reflections AS INTEGER) AS reflections,
    reflections / nullif(held, 0) AS reflection_share
FROM spans;
COMMENT ON VIEW memory_composition IS 'What a memory store consists of after each tick: one row per tick and persona.';
COMMENT ON COLUMN memory_composition.tick IS 'state after this tick; 0 is the start';
COMMENT ON COLUMN memory_composition.persona_id IS 'persona that remembers';
COMMENT ON COLUMN memory_composition.held IS 'memories held';
COMMENT ON COLUMN memory_composition.reflections IS 'of those, written by reflections';
COMMENT ON COLUMN memory_composition.reflection_share IS 'reflections / held, [0, 1]; NULL for an empty store';

CREATE VIEW posts_reach AS
WITH seen AS (
    SELECT
        post_id,
        count(*) AS exposures,
        count(DISTINCT persona_id) AS personas,
        min(tick) AS first_seen_tick,
        max(tick) AS last_seen_tick
    FROM exposures GROUP BY post_id
),
moved AS (
    SELECT cause_post_id AS post_id, count(*) AS belief_changes, sum(abs(after - before)) AS total_change
    FROM belief_changes GROUP BY cause_post_id
),
acted AS (
    SELECT TRY_CAST(target_id AS BIGINT) AS post_id, count(*) AS engagements
    FROM turns WHERE action NOT IN ('follow', 'ask_peer') GROUP BY 1
)
SELECT
    post_id,
    posts.tick,
    author,
    kind,
    stimulus_id,
    text,
    coalesce(exposures, 0) AS exposures,
    coalesce(seen.personas, 0) AS personas,
    first_seen_tick,
    last_seen_tick,
    coalesce(engagements, 0) AS engagements,
    coalesce(moved.belief_changes, 0) AS belief_changes,
    coalesce(total_change, 0) AS total_change
FROM posts
LEFT JOIN seen USING (post_id)
LEFT JOIN moved USING (post_id)
LEFT JOIN acted USING (post_id);
COMMENT ON VIEW posts_reach IS 'How far each post went and what it did: one row per post.';
COMMENT ON COLUMN posts_reach.post_id IS 'id of the post';
COMMENT ON COLUMN posts_reach.tick IS 'tick in which it was written';
COMMENT ON COLUMN posts_reach.author IS 'persona id, or source of the stimulus';
COMMENT ON COLUMN posts_reach.kind IS 'kind of the post';
COMMENT ON COLUMN posts_reach.stimulus_id IS 'event of the scenario that it is; NULL for a post by a persona';
COMMENT ON COLUMN posts_reach.text IS 'what is said';
COMMENT ON COLUMN posts_reach.exposures IS 'times shown';
COMMENT ON COLUMN posts_reach.personas IS 'personas that saw it';
COMMENT ON COLUMN posts_reach.first_seen_tick IS 'first tick in which it was shown; NULL for never';
COMMENT ON COLUMN posts_reach.last_seen_tick IS 'last tick in which it was shown; NULL for never';
COMMENT ON COLUMN posts_reach.engagements IS 'turns that acted on it: likes, votes, reposts, comments, answers, ...';
COMMENT ON COLUMN posts_reach.belief_changes IS 'belief changes that it caused';
COMMENT ON COLUMN posts_reach.total_change IS 'sum of the sizes of those changes';

CREATE VIEW embeddings AS
SELECT
    embedding_id,
    tick,
    text,
    text_sha256,
    list_transform(  -- two hexadecimal digits a byte; from 80 on it is negative
        regexp_extract_all(hex(quantised), '..'),
        lambda byte: CAST((CAST('0x' || byte AS SMALLINT) + 128) % 256 - 128 AS FLOAT) * scale
    ) AS vector
FROM embedding_rows;
COMMENT ON VIEW embeddings IS 'Vectors of all distinct embedded texts: memories, stimuli and queries.';
COMMENT ON COLUMN embeddings.embedding_id IS 'id of the embedded text';
COMMENT ON COLUMN embeddings.tick IS 'tick in which the text was first met; 0 is the start';
COMMENT ON COLUMN embeddings.text IS 'the text';
COMMENT ON COLUMN embeddings.text_sha256 IS 'SHA-256 of the text''s UTF-8 bytes, hexadecimal';
COMMENT ON COLUMN embeddings.vector IS 'the vector, as wide as the encoder: quantised * scale in single precision';

CREATE VIEW persona_timeline AS
WITH events AS (
    SELECT
        0 AS tick,
        persona_id,
        0 AS stage,
        row_number() OVER (PARTITION BY persona_id ORDER BY target) AS place,
        'started' AS what,
        target || ' = ' || format('{:.3f}', belief) AS detail,
        target AS subject,
        belief AS value
    FROM initial_beliefs
    UNION ALL
    SELECT
        seen.tick, seen.persona_id, 1, seen.position, 'perceived',
        -- A stimulus is called what the scenario calls it; a shared message names who wrote it.
        coalesce(posts.author || ' (' || coalesce(told.kind, posts.kind)
                 || CASE posts.kind WHEN 'repost' THEN coalesce(' of ' || parents.author, '')
                    ELSE '' END || '): ' || posts.text,
                 stimuli.source || ' (' || stimuli.kind || '): ' || stimuli.text),
        coalesce(CAST(seen.post_id AS VARCHAR), seen.stimulus_id), seen.score
    FROM exposures AS seen
    LEFT JOIN posts USING (post_id)
    LEFT JOIN posts AS parents ON parents.post_id = posts.parent_id
    LEFT JOIN stimuli AS told ON told.stimulus_id = posts.stimulus_id
    LEFT JOIN stimuli ON stimuli.stimulus_id = seen.stimulus_id
    UNION ALL
    SELECT
        recalls.tick, recalls.persona_id, 2, slot, 'recalled',
        'from tick ' || memories.tick || ' (' || path || '): ' || memories.text,
        CAST(memory_id AS VARCHAR), score
    FROM recalls LEFT JOIN memories USING (memory_id)
    UNION ALL
    SELECT
        turns.tick, persona_id, 3, 0, 'did',
        action || CASE
            WHEN target_id IS NULL THEN ''
            WHEN posts.post_id IS NULL THEN ' ' || target_id
            ELSE ' post ' || target_id || ' by ' || author || ': ' || posts.text
        END,
        target_id, turns.importance
    FROM turns LEFT JOIN posts
        ON action NOT IN ('follow', 'ask_peer') AND posts.post_id = TRY_CAST(target_id AS BIGINT)
    UNION ALL
    SELECT tick, persona_id, 4, 0, 'said', text, NULL, NULL FROM turns WHERE text <> ''
    UNION ALL
    SELECT
        changes.tick, persona_id,
        CASE phase WHEN 'turn' THEN 5 ELSE 8 END,
        row_number() OVER (PARTITION BY changes.tick, persona_id, phase ORDER BY target),
        'changed belief',
        target || ' ' || format('{:.3f}', before) || ' -> ' || format('{:.3f}', after)
        || CASE phase WHEN 'reflection' THEN ' on reflection' ELSE '' END
        || coalesce(' mainly because of ' || coalesce(author || ': ' || posts.text, cause_stimulus_id), ''),
        target, after
    FROM belief_changes AS changes LEFT JOIN posts ON posts.post_id = cause_post_id
    UNION ALL
    SELECT
        tick, persona_id,
        CASE kind WHEN 'reflection' THEN 9 ELSE 6 END,
        memory_id, 'remembered', text, CAST(memory_id AS VARCHAR), importance
    FROM memories
    UNION ALL
    SELECT
        tick, persona_id, 7, 0, 'reflected',
        CASE trigger WHEN 'sharp_move' THEN 'after a sharp move'
            ELSE 'after ' || reflection_interval || ' turns' END
        || CASE source WHEN 'fallback' THEN ' (by rule, after a failed answer)' ELSE '' END,
        NULL, NULL
    FROM reflections LEFT JOIN personas USING (persona_id)
    UNION ALL
    SELECT
        evicted_tick, persona_id, 10, memory_id, 'forgot',
        'from tick ' || tick || ': ' || text, CAST(memory_id AS VARCHAR), importance
    FROM memories WHERE evicted_tick IS NOT NULL
    UNION ALL
    SELECT
        tick, persona_id, 11,
        row_number() OVER (PARTITION BY tick, persona_id ORDER BY attribute),
        'was probed',
        question || ' ' || coalesce(answer, '(no answer)')
        || CASE WHEN agrees THEN ' (agrees)'
                WHEN NOT agrees THEN ' (disagrees: ' || expected || ')' ELSE '' END,
        attribute, NULL
    FROM probes
    UNION ALL
    SELECT
        tick, persona_id, 12,
        row_number() OVER (PARTITION BY tick, persona_id ORDER BY purpose, kind, detail),
        'had refused', purpose || ', ' || kind || ': ' || detail, kind, NULL
    FROM rejections WHERE persona_id IS NOT NULL
)
SELECT
    tick,
    persona_id,
    CAST(row_number() OVER (PARTITION BY persona_id, tick ORDER BY stage, place) AS INTEGER) AS step,
    what,
    detail,
    subject,
    value
FROM events;
COMMENT ON VIEW persona_timeline IS 'Everything that happened to one persona, for reading: filter by persona_id, order by tick and step.';
COMMENT ON COLUMN persona_timeline.tick IS 'tick in which it happened; 0 is the start';
COMMENT ON COLUMN persona_timeline.persona_id IS 'persona that it happened to';
COMMENT ON COLUMN persona_timeline.step IS 'order within the tick, from 1';
COMMENT ON COLUMN persona_timeline.what IS 'started, perceived, recalled, did, said, changed belief, remembered, reflected, forgot, was probed or had refused';
COMMENT ON COLUMN persona_timeline.detail IS 'what it was, in words';
COMMENT ON COLUMN persona_timeline.subject IS 'id of what it was about: post, stimulus, memory, target, attribute or persona; NULL for none';
COMMENT ON COLUMN persona_timeline.value IS 'its number: feed score, recall score, importance or new belief; NULL for none';

CREATE VIEW units AS
WITH RECURSIVE latest AS (
    SELECT
        unit_id,
        arg_max(
            struct_pack(
                positive := positive,
                negative := negative,
                neutral := neutral,
                weight := weight,
                entropy := entropy,
                summary := summary,
                observations := observations
            ),
            struct_pack(tick := tick, step := step)
        ) AS state,
        arg_max(aspects, struct_pack(tick := tick, step := step))
            FILTER (aspects IS NOT NULL) AS aspects,
        max(tick) FILTER (kind = 'evidence') AS updated_tick,
        max(tick) FILTER (kind = 'delete') AS deleted_tick
    FROM unit_updates GROUP BY unit_id
),
merges AS (
    SELECT other_unit_id AS unit_id, tick AS merged_tick, unit_id AS merged_into
    FROM unit_updates WHERE kind = 'merge'
),
-- A unit answers for all that went into it, also by way of others.
family AS (
    SELECT merged_into AS unit_id, unit_id AS member FROM merges
    UNION
    SELECT merges.merged_into, family.member
    FROM family JOIN merges ON merges.unit_id = family.unit_id
),
inherited AS (
    SELECT family.unit_id, max(latest.updated_tick) AS updated_tick
    FROM family JOIN latest ON latest.unit_id = family.member GROUP BY family.unit_id
)
SELECT
    unit_rows.unit_id,
    persona_id,
    object_type,
    object,
    aspect,
    state.positive,
    state.negative,
    state.neutral,
    state.weight,
    state.entropy,
    coalesce(latest.aspects, [aspect]) AS aspects,
    state.summary,
    state.observations,
    created_tick,
    greatest(latest.updated_tick, inherited.updated_tick) AS updated_tick,
    CASE
        WHEN merged_tick IS NOT NULL THEN 'merged'
        WHEN deleted_tick IS NOT NULL THEN 'deleted'
    END AS ended,
    coalesce(merged_tick, deleted_tick) AS ended_tick,
    merged_into
FROM unit_rows
JOIN latest ON latest.unit_id = unit_rows.unit_id
LEFT JOIN merges ON merges.unit_id = unit_rows.unit_id
LEFT JOIN inherited ON inherited.unit_id = unit_rows.unit_id;
COMMENT ON VIEW units IS 'Confidence-weighted memory units in their latest state: one row per unit, also of those that ended.';
COMMENT ON COLUMN units.unit_id IS 'id of the unit';
COMMENT ON COLUMN units.persona_id IS 'persona that holds it';
COMMENT ON COLUMN units.object_type IS 'kind of object: brand, claim or peer';
COMMENT ON COLUMN units.object IS 'what the unit is about: name of the brand, claim id or persona id';
COMMENT ON COLUMN units.aspect IS 'side of the object that it was founded about, a dimension';
COMMENT ON COLUMN units.positive IS 'confidence that the view is positive, [0, 1]';
COMMENT ON COLUMN units.negative IS 'confidence that the view is negative, [0, 1]';
COMMENT ON COLUMN units.neutral IS 'confidence that the view is neutral, [0, 1]';
COMMENT ON COLUMN units.weight IS 'weight of the evidence so far, > 0, capped';
COMMENT ON COLUMN units.entropy IS 'belief entropy in bits, [0, log2(3)]';
COMMENT ON COLUMN units.aspects IS 'sides that it answers for: its own, and those of units merged into it';
COMMENT ON COLUMN units.summary IS 'the view in words';
COMMENT ON COLUMN units.observations IS 'pieces of evidence so far, those of merged units included';
COMMENT ON COLUMN units.created_tick IS 'tick of the first evidence';
COMMENT ON COLUMN units.updated_tick IS 'tick of the latest evidence, also of units that were merged into it';
COMMENT ON COLUMN units.ended IS 'merged or deleted; NULL while it lives';
COMMENT ON COLUMN units.ended_tick IS 'tick in which it ended; NULL while it lives';
COMMENT ON COLUMN units.merged_into IS 'unit that took it over; NULL for none';

CREATE VIEW attitude_paths AS
SELECT
    tick,
    unit_updates.persona_id,
    unit_updates.unit_id,
    object_type,
    object,
    unit_rows.aspect,
    (positive - negative) / nullif(positive + negative + neutral, 0) AS lean,
    entropy,
    weight,
    CASE
        WHEN entropy < 0.6 THEN 'certain'
        WHEN entropy < 1.2 THEN 'mixed'
        ELSE 'torn'
    END AS certainty,
    summary,
    max(cause_post_id) OVER (PARTITION BY tick, unit_updates.unit_id) AS cause_post_id
FROM unit_updates
JOIN unit_rows ON unit_rows.unit_id = unit_updates.unit_id
QUALIFY row_number() OVER (PARTITION BY tick, unit_updates.unit_id ORDER BY step DESC) = 1;
COMMENT ON VIEW attitude_paths IS 'How attitudes went: one row per tick and memory unit that changed in it.';
COMMENT ON COLUMN attitude_paths.tick IS 'tick of the change; the state holds until the next';
COMMENT ON COLUMN attitude_paths.persona_id IS 'persona that holds the unit';
COMMENT ON COLUMN attitude_paths.unit_id IS 'the unit, in units';
COMMENT ON COLUMN attitude_paths.object_type IS 'kind of object: brand, claim or peer';
COMMENT ON COLUMN attitude_paths.object IS 'what it is about: name of the brand, claim id or persona id';
COMMENT ON COLUMN attitude_paths.aspect IS 'side of the object that it was founded about, a dimension';
COMMENT ON COLUMN attitude_paths.lean IS 'positive less negative of the normalised confidence, [-1, 1]';
COMMENT ON COLUMN attitude_paths.entropy IS 'belief entropy in bits, [0, log2(3)]';
COMMENT ON COLUMN attitude_paths.weight IS 'weight of the evidence so far, > 0, capped';
COMMENT ON COLUMN attitude_paths.certainty IS 'entropy in a word: certain below 0.6, mixed below 1.2, else torn';
COMMENT ON COLUMN attitude_paths.summary IS 'the view in words';
COMMENT ON COLUMN attitude_paths.cause_post_id IS 'post that counted most in what the unit was told in the tick; NULL where a deed, a merge or time alone changed it';
