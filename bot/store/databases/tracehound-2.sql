-- A wake-up leads to the job whose turn it is, which may belong to another issue, so a lock on its issue would delay it.
CREATE OR REPLACE FUNCTION tracehound_wake(job bigint, issue_key text, lane text, due double precision, attempt bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    at timestamptz := CASE WHEN to_timestamp(due) > clock_timestamp() + interval '0.25 s' THEN to_timestamp(due) END;
BEGIN
    IF at > clock_timestamp() + interval '3600 s' THEN
        RETURN;
    END IF;
    PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW(
        lane, 'work', CASE WHEN attempt > 0 THEN 1 ELSE 0 END, NULL, NULL,
        jsonb_build_object('job', job, 'issue_key', issue_key, 'lane', lane), at
    )]::procrastinate_job_to_defer_v1[]);
END;
$$
