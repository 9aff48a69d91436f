import { useEffect, useRef, useState } from 'preact/hooks';
import { statusWords } from '../../../../src/core/jobs/status-words.js';
import { useEventFold, type EventLog } from '../../data/event-log.js';
import { health, healthOfJob, reloadHealth, type OpenJob } from '../../data/health/health.js';
import { minute, slowedDown, stallText } from '../../data/health/words.js';
import { isActive, type Job } from '../../data/job.js';
import { dollars, pace, unknown } from '../../util/format.js';
import { here } from '../../util/router.js';
import { Clock, Time } from '../../ui/basics.js';
import { RunClock } from '../search/run-clock.js';
import { Decisions, type Said } from './decisions.js';
import { TellMe } from './end-notice.js';
import { PhaseStrip } from './phase-strip.js';

const stalledS = 60;

/** Of an open job: its phase, its pace, when it ends, and what it decided last. */
export function Live({ job, log }: { job: Job; log?: EventLog | undefined }) {
  if (!isActive(job.status)) return null;
  return (
    <section class="live" aria-label="Live">
      <PhaseStrip job={job} />
      {log ? <PaceOfLog job={job} log={log} /> : <Pace job={job} clock={null} />}
      {log && <Feed job={job} log={log} />}
    </section>
  );
}

function PaceOfLog({ job, log }: { job: Job; log: EventLog }) {
  return <Pace job={job} clock={useEventFold(log, () => new RunClock())} />;
}

/** Pace, end and last result of a job. `clock` null: how long it has run is unknown. */
function Pace({ job, clock }: { job: Job; clock: RunClock | null }) {
  const isRunning = job.status === 'running';
  const known = healthOfJob(job.job_id);
  const lastMs = useLastResult(job, known?.last_result_at ?? null);
  const nowMs = useClock(isRunning);
  useEffect(() => {
    if (isRunning && !known) void reloadHealth();
  }, [isRunning]);
  const quietS = lastMs === null ? null : Math.max(0, Math.round((nowMs - lastMs) / 1_000));
  const isStalled = known?.stalled === true && (quietS === null || quietS >= stalledS);
  const figures: [string, string][] = [
    ['answers/s', known ? pace(known.rollouts_per_minute / 60) : unknown],
    ['per hour', dollars(known?.usd_per_hour)],
    ['in flight', String(job.concurrency.in_flight)],
    ['last result', quietS === null ? unknown : `${quietS} s ago`],
    ['ends about', endOf(job, known, clock, nowMs)],
  ];
  return (
    <div class="live-pace">
      <dl class="live-figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <TellMe job={job} />
      <p class="live-state" role="status" aria-live="off">
        {isStalled && <strong class="bad">{stallText(known, health.value?.providers ?? [], quietS)}</strong>}
        {job.status === 'paused' && (
          <span>
            {sentence(statusWords(job.status, job.last_command))}
            {job.last_command && (
              <>
                , <Time at={job.last_command.at} />
              </>
            )}
          </span>
        )}
      </p>
    </div>
  );
}

const sentence = (words: string): string => `${words[0]!.toUpperCase()}${words.slice(1)}`;

/** As `21:46 by answers`: the first limit that is reached at this pace. */
function endOf(job: Job, known: OpenJob | undefined, clock: RunClock | null, nowMs: number): string {
  if (job.status !== 'running') return unknown;
  const most = 'max_minutes' in job.budget ? job.budget.max_minutes : null;
  const minutesLeft = clock === null || most === null ? null : most - clock.minutesAt(nowMs);
  const ends = [
    known?.ends_at && known.ends_by ? { by: known.ends_by, atMs: Date.parse(known.ends_at) } : null,
    minutesLeft === null ? null : { by: 'minutes', atMs: nowMs + minutesLeft * 60_000 },
  ].filter((end) => end !== null);
  const [first] = ends.sort((a, b) => a.atMs - b.atMs);
  return first
    ? `${minute(new Date(first.atMs).toISOString())} by ${first.by === 'rollouts' ? 'answers' : first.by}`
    : unknown;
}

/** The last decisions, each with a link to its candidate. */
function Feed({ job, log }: { job: Job; log: EventLog }) {
  const unit = 'num_tasks' in job ? 'task' : 'dataset' in job && job.dataset ? 'row' : 'seed';
  const { latest } = useEventFold(log, () => new Decisions(unit), unit);
  return (
    <ol class="live-feed" aria-label="Latest decisions" tabIndex={0}>
      {latest.map((said) => (
        <Decision key={said.seq} said={said} />
      ))}
      {latest.length === 0 && <li class="quiet">No decision yet.</li>}
    </ol>
  );
}

function Decision({ said: { at, text, candidateId } }: { said: Said }) {
  return (
    <li title={text}>
      <Clock at={at} /> {candidateId === null ? text : <a href={here({ candidate: candidateId })}>{text}</a>}
    </li>
  );
}

/** As `1 of 5 answers at a time: openai 429 since 21:21`; null: it runs as fast as it may. */
export function slowdownOf(job: Job): string | null {
  const known = healthOfJob(job.job_id);
  if (known && health.value && job.status === 'running') return slowedDown(known, health.value.providers);
  const { limit, max_concurrent: most, lowered_because: because } = job.concurrency;
  return because === null ? null : `${limit} of ${most} answers at a time: ${because}`;
}

/** The time of the last result, as of the record or of a count that has grown since. */
function useLastResult(job: Job, recorded: string | null): number | null {
  const { progress } = job;
  const done = 'completed' in progress ? progress.completed : progress.rollouts_completed;
  const seen = useRef({ done, at: null as number | null });
  if (done > seen.current.done) seen.current = { done, at: Date.now() };
  const times = [seen.current.at, recorded === null ? null : Date.parse(recorded)].filter((at) => at !== null);
  return times.length > 0 ? Math.max(...times) : null;
}

function useClock(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
