import type { ComponentChildren } from 'preact';
import { link } from '../../router.js';
import { Time } from '../../ui/basics.js';
import { JobTitle } from '../../ui/job-title.js';
import { words } from '../../format.js';
import type { SearchJob } from './types.js';

/** Which job it is, what can be done with it, and what went wrong. */
export function Head(props: { job: SearchJob; kind: string; facts?: ComponentChildren; actions: ComponentChildren }) {
  const { job, kind } = props;
  const { job_id: id, policy } = job;
  return (
    <>
      <div class="page-head session-head">
        <div>
          <p class="crumbs">
            <a href={link([])}>Runs</a> / {kind}
          </p>
          <JobTitle job={job} />
          <p class="quiet session-facts">
            <span>{words(job.algorithm).toUpperCase()}</span>
            <span>
              {policy.provider}/{policy.model}
            </span>
            {props.facts}
            <span>
              created <Time at={job.created_at} />
            </span>
            <code>{id}</code>
            {job.temporal_url && <a href={job.temporal_url}>Temporal</a>}
          </p>
        </div>
        {props.actions}
      </div>
      {job.notes && <p class="session-notes">{job.notes}</p>}
      <Failure job={job} kind={kind} />
      <Warnings job={job} />
    </>
  );
}

/** Why the job failed, in full. */
function Failure({ job: { error, error_details: details }, kind }: { job: SearchJob; kind: string }) {
  if (error === null && details === null) return null;
  return (
    <div class="problem" role="alert">
      <strong>{details ? words(details.code) : 'Failed'}</strong>
      <pre>{details?.message ?? error}</pre>
      {details && error !== null && error !== details.message && <pre>{error}</pre>}
      {details && (
        <p class="quiet">
          {details.retryable
            ? `The same ${kind} may succeed when it is created again.`
            : `The same ${kind} would fail again.`}
        </p>
      )}
    </div>
  );
}

function Warnings({ job: { warnings, concurrency, webhook } }: { job: SearchJob }) {
  const all = [...warnings];
  if (concurrency.lowered_because)
    all.push(
      `${concurrency.limit} of ${concurrency.max_concurrent} rollouts at a time: ${concurrency.lowered_because}`,
    );
  if (webhook?.status === 'failed') all.push(`The webhook to ${webhook.origin} failed: ${webhook.last_error ?? ''}`);
  if (all.length === 0) return null;
  return (
    <div class="note" role="note" aria-label="Warnings">
      {all.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
    </div>
  );
}
