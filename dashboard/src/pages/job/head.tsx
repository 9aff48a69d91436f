import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { shortId, words } from '../../util/format.js';
import { link } from '../../util/router.js';
import { Badge, StuckBadge, Tag, Time } from '../../ui/basics.js';
import { FirstNumber } from '../../ui/first-number.js';
import { Heading } from '../../ui/heading.js';
import type { Named } from '../../data/first-reward.js';
import { isActive, type Job } from '../../data/job.js';
import { CopyId, CopyLink } from '../../ui/copy.js';
import { reloadHealth } from '../../data/health/health.js';
import type { EventLog } from '../../data/event-log.js';
import { Origin } from '../configuration/tab.js';
import { useEndNotice } from './end-notice.js';
import { Live, slowdownOf } from './live.js';

/** Which job it is, how good it is, what can be done with it, and what went wrong. */
export function Head(props: {
  job: Job;
  kind: string;
  first: Named | null;
  facts: ComponentChildren;
  actions: ComponentChildren;
  log?: EventLog;
}) {
  const { job, kind } = props;
  const { policy } = job;
  useEndNotice(job);
  useHealthOf(job);
  return (
    <>
      <div class="page-head job-head">
        <div>
          <p class="crumbs">
            <a href={link([])}>Runs</a> / {kind}
          </p>
          <Title job={job} />
          <FirstNumber of={props.first} isOver={!isActive(job.status)} />
          <p class="quiet job-facts">
            {'algorithm' in job && <Algorithm name={job.algorithm} />}
            <Model policy={policy} />
            {props.facts}
            {job.branched_from && <Origin origin={job.branched_from} />}
            <span>
              created <Time at={job.created_at} />
            </span>
            <CopyId id={job.job_id} />
            <CopyLink />
            {job.temporal_url && <a href={job.temporal_url}>Temporal</a>}
          </p>
        </div>
        {props.actions}
      </div>
      {job.notes && (
        <p class="job-notes" dir="auto">
          {job.notes}
        </p>
      )}
      <Live job={job} log={props.log} />
      <Failure job={job} kind={kind} />
      <Warnings job={job} />
    </>
  );
}

/** Reads the state of all jobs again when this one changes its own. */
function useHealthOf({ status }: Job): void {
  const known = useRef(status);
  useEffect(() => {
    if (known.current !== status) void reloadHealth();
    known.current = status;
  }, [status]);
}

const algorithms: Record<string, string> = {
  gepa: 'A search that writes new prompts from the mistakes of earlier ones',
  mipro: 'A search that combines instructions with examples of right answers',
};

function Algorithm({ name }: { name: string }) {
  return <abbr title={algorithms[name]}>{words(name).toUpperCase()}</abbr>;
}

/** Provider and model; the one for trials says what it is. */
function Model({ policy: { provider, model } }: { policy: Job['policy'] }) {
  if (provider !== 'local') return <span>{`${provider}/${model}`}</span>;
  return <abbr title="Built in, for trials: it sorts short texts by their words, and cannot reason">local model</abbr>;
}

/** Name, status and tags. */
function Title({ job }: { job: Job }) {
  return (
    <Heading title={job.name ?? shortId(job.job_id)}>
      <bdi>{job.name ?? shortId(job.job_id)}</bdi> <Badge status={job.status} /> <StuckBadge stuck={job.stuck} />
      {job.archived && <Tag>archived</Tag>}
      {job.tags.map((tag) => (
        <a key={tag} class="plain-link" href={link([], { tag })}>
          <Tag>{tag}</Tag>
        </a>
      ))}
    </Heading>
  );
}

/** Why the job failed, in full. */
function Failure({ job: { error, error_details: details }, kind }: { job: Job; kind: string }) {
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

function Warnings({ job }: { job: Job }) {
  const { warnings, webhook, stuck } = job;
  const all = [...warnings];
  if (stuck)
    all.push(`The job is stuck: its workflow task fails and is retried. ${words(stuck.cause)}: ${stuck.message}`);
  const slowdown = slowdownOf(job);
  if (slowdown !== null) all.push(slowdown);
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
