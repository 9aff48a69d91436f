import { useEffect, useRef, useState } from 'preact/hooks';
import { firstEnd } from '../../../../src/core/health/pace.js';
import { statusWords } from '../../../../src/core/jobs/status-words.js';
import { useEventFold, type EventLog } from '../../data/event-log.js';
import { health, healthOfJob, reloadHealth } from '../../data/health/health.js';
import { minute, slowedDown, stallText } from '../../data/health/words.js';
import { isActive, type Job } from '../../data/job.js';
import { dollars, pace, unknown } from '../../util/format.js';
import { here } from '../../util/router.js';
import { Clock, Time } from '../../ui/basics.js';
import { Decisions, type Said } from './decisions.js';
import { TellMe } from './end-notice.js';
import { PhaseStrip } from './phase-strip.js';
import { RecentPace } from './recent-pace.js';
import type { RunClock } from '../search/run-clock.js';

const stalledS = 60;

/** Of an open job: its phase, its pace, when it ends, and what it decided last. */
export function Live({ job, log }: { job: Job; log?: EventLog | undefined }) {
  if (!isActive(job.status)) return null;
  return (
    <section class="live" aria-label="Live">
      <PhaseStrip job={job} />
      {log ? <PaceOfLog job={job} log={log} /> : <Pace job={job} recent={null} />}
      {log && <Feed job={job} log={log} />}
    </section>
  );
}

function PaceOfLog({ job, log }: { job: Job; log: EventLog }) {
  return <Pace job={job} recent={useEventFold(log, () => new RecentPace())} />;
}

/** Pace, end and last result of a job. `recent` null: its events are not read. */
function Pace({ job, recent }: { job: Job; recent: RecentPace | null }) {
  const isRunning = job.status === 'running';
  const known = healthOfJob(job.job_id);
  const lastMs = useLastResult(job, known?.last_result_at ?? null);
  const nowMs = useClock(isRunning);
  useEffect(() => {
    if (isRunning && !known) void reloadHealth();
  }, [isRunning]);
  const quietS = lastMs === null ? null : Math.max(0, Math.round((nowMs - lastMs) / 1_000));
  const isStalled = known?.stalled === true && (quietS === null || quietS >= stalledS);
  const perMinute = isRunning ? (recent ? recent.perMinute(nowMs) : (known?.rollouts_per_minute ?? null)) : null;
  const rates = ratesOf(job, perMinute);
  const figures: [string, string][] = [
    ['answers/s', perMinute === null ? unknown : pace(perMinute / 60)],
    ['per hour', dollars(rates.usdPerHour)],
    ['in flight', String(job.concurrency.in_flight)],
    ['last result', quietS === null ? unknown : `${quietS} s ago`],
    ['ends about', endOf(job, rates, recent?.clock ?? null, nowMs)],
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

interface Rates {
  perHour: number | null;
  usdPerHour: number | null;
}

/** What goes in an hour at this pace; null: not known. */
function ratesOf(job: Job, perMinute: number | null): Rates {
  const [perHour, done, spent] = [perMinute === null ? null : perMinute * 60, doneOf(job), spentOf(job)];
  const usdPerHour = perHour === null || spent === null || done === 0 ? null : (spent / done) * perHour;
  return { perHour, usdPerHour };
}

const doneOf = ({ progress }: Job): number =>
  'completed' in progress ? progress.completed : progress.rollouts_completed;

const spentOf = ({ budget, usage }: Job): number | null => budget.spent_usd ?? usage.total_cost_usd;

/** As `21:46 by answers`: the first limit that is reached at this pace. */
function endOf(job: Job, { perHour, usdPerHour }: Rates, clock: RunClock | null, nowMs: number): string {
  if (job.status !== 'running') return unknown;
  const { progress, budget } = job;
  const most = 'completed' in progress ? progress.total : progress.max_rollouts;
  const [spent, maxUsd] = [spentOf(job), budget.max_cost_usd];
  const minutes = 'max_minutes' in budget ? budget.max_minutes : null;
  const end = firstEnd(
    [
      { by: 'answers', left: most === null ? null : most - doneOf(job), perHour },
      { by: 'dollars', left: maxUsd === null || spent === null ? null : maxUsd - spent, perHour: usdPerHour },
      {
        by: 'minutes',
        left: minutes === null || clock === null ? null : minutes - clock.minutesAt(nowMs),
        perHour: 60,
      },
    ],
    nowMs,
  );
  return end ? `${minute(new Date(end.atMs).toISOString())} by ${end.by}` : unknown;
}

/** The last decisions, each with a link to its candidate. */
function Feed({ job, log }: { job: Job; log: EventLog }) {
  const unit = 'num_tasks' in job ? 'task' : 'dataset' in job && job.dataset ? 'row' : 'seed';
  const { latest } = useEventFold(log, () => new Decisions(unit), unit);
  return (
    <ol class={`live-feed ${latest.length === 0 ? 'live-feed-empty' : ''}`} aria-label="Latest decisions" tabIndex={0}>
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
  const done = doneOf(job);
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
