-- A transcript: what personas of runs were asked in interviews, and what they answered. It has a
-- table `model_calls` besides, laid out as in a run database (transcripts.py).

CREATE TABLE interviews (
    interview_id VARCHAR NOT NULL,
    question_no INTEGER NOT NULL,
    asked_at TIMESTAMP NOT NULL,
    run_id VARCHAR NOT NULL,
    run_path VARCHAR NOT NULL,
    scenario_name VARCHAR NOT NULL,
    seed BIGINT NOT NULL,
    tick INTEGER NOT NULL,
    persona_id VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    answer VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    error VARCHAR,
    recalled STRUCT(memory_id BIGINT, tick INTEGER, text VARCHAR, path VARCHAR)[] NOT NULL,
    cost_usd DOUBLE NOT NULL
);
COMMENT ON TABLE interviews IS 'One row per question that a persona of a run was asked and answered.';
COMMENT ON COLUMN interviews.interview_id IS 'id of the conversation';
COMMENT ON COLUMN interviews.question_no IS 'number of the question in it, from 1';
COMMENT ON COLUMN interviews.asked_at IS 'time of the answer, UTC';
COMMENT ON COLUMN interviews.run_id IS 'run that the persona belongs to';
COMMENT ON COLUMN interviews.run_path IS 'its file, as it was named';
COMMENT ON COLUMN interviews.scenario_name IS 'name of its scenario';
COMMENT ON COLUMN interviews.seed IS 'its seed';
COMMENT ON COLUMN interviews.tick IS 'the persona answered as it was at the end of this tick';
COMMENT ON COLUMN interviews.persona_id IS 'persona that was asked';
COMMENT ON COLUMN interviews.question IS 'the question';
COMMENT ON COLUMN interviews.answer IS 'the answer';
COMMENT ON COLUMN interviews.source IS
    'rule, model, replay, or fallback where a language model failed and the rule model answered';
COMMENT ON COLUMN interviews.model IS 'provider and model that was to answer';
COMMENT ON COLUMN interviews.error IS 'what went wrong on the way; NULL for nothing';
COMMENT ON COLUMN interviews.recalled IS
    'memories that the question brought back, best first, each with how it came';
COMMENT ON COLUMN interviews.cost_usd IS 'price of the calls for this question in US dollars, as far as known';
