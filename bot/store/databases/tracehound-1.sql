-- Only a due wake-up has a lock: procrastinate does not run a later wake-up before an earlier one of the same lock,
-- however late the earlier one is due. Jobs with an attempt go first, since otherwise the jobs of a dead worker would wait
-- behind all newer jobs. A job may start a quarter of a second early, since two readings of one clock may differ.
-- A wake-up is stored at most an hour before its job is due: a question may wait for two weeks, and every query for work
-- would scan it; such a job gets its wake-up when it becomes due.
CREATE FUNCTION tracehound_wake(job bigint, issue_key text, lane text, due double precision, attempt bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    at timestamptz := CASE WHEN to_timestamp(due) > clock_timestamp() + interval '0.25 s' THEN to_timestamp(due) END;
BEGIN
    IF at > clock_timestamp() + interval '3600 s' THEN
        RETURN;
    END IF;
    PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW(
        lane, 'work', CASE WHEN attempt > 0 THEN 1 ELSE 0 END,
        CASE WHEN at IS NULL THEN lane || ' ' || issue_key END, NULL,
        jsonb_build_object('job', job, 'issue_key', issue_key, 'lane', lane), at
    )]::procrastinate_job_to_defer_v1[]);
END;
$$;
CREATE FUNCTION tracehound_job_waits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tracehound_wake(NEW.id, NEW.issue_key, NEW.lane, NEW.due, NEW.attempt);
    RETURN NULL;
END;
$$;
CREATE TRIGGER tracehound_job_stored AFTER INSERT ON jobs
    FOR EACH ROW WHEN (NEW.state = 'todo') EXECUTE FUNCTION tracehound_job_waits();
CREATE TRIGGER tracehound_job_waits AFTER UPDATE OF state, due ON jobs
    FOR EACH ROW WHEN (NEW.state = 'todo' AND (OLD.state <> 'todo' OR OLD.due <> NEW.due))
    EXECUTE FUNCTION tracehound_job_waits();
SELECT tracehound_wake(id, issue_key, lane, due, attempt) FROM jobs WHERE state = 'todo'
