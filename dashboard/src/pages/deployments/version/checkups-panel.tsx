import { useState } from 'preact/hooks';
import { all, type Answer } from '../../../../../src/client/index.js';
import { isActive } from '../../../data/job.js';
import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import { ActionButton, Badge, Panel, Problem, Time } from '../../../ui/basics.js';
import { dollars, fullClock, shortId } from '../../../util/format.js';
import { pageOf } from '../../../util/router.js';
import { VerdictBadge } from '../../checkup/verdict-badge.js';

type Schedule = Answer<'getSchedule'>;
type Checkup = Answer<'getCheckup'>;

/** While a run of a schedule is open; before, the page reads again when one is due. */
const pollMs = { open: 5_000, idle: 60_000 };
const shownCheckups = 5;
const shownRuns = 5;

/** The latest checkups of a name, and its schedules. */
export function CheckupsPanel({ name }: { name: string }) {
  const [againMs, setAgainMs] = useState(pollMs.open);
  const load = async (signal: AbortSignal) => {
    const [{ data: found }, schedules] = await Promise.all([
      // The query takes a part of a name.
      client.value.request('listCheckups', { query: { name, limit: 100 }, signal }),
      all(client.value.deployments.handle(name).schedules({}, { signal })),
    ]);
    const ids = schedules.map(({ schedule_id: id }) => id);
    const read = {
      checkups: found.filter((checkup) => checkup.name === name).slice(0, shownCheckups),
      schedules: await Promise.all(ids.map((id) => client.value.schedules.handle(id).get({ signal }))),
    };
    setAgainMs(nextReadMs(read, Date.now()));
    return read;
  };
  const { data, error, reload } = useResource(`checkups ${name}`, load, againMs);
  if (!error && (data === undefined || data.checkups.length + data.schedules.length === 0)) return null;
  return (
    <Panel title="Checkups">
      <Problem error={error} />
      <ul class="log" aria-label="Checkups">
        {data?.checkups.map((checkup) => (
          <li key={checkup.job_id}>
            <Time at={checkup.created_at} /> <a href={pageOf(checkup.job_id)}>{shortId(checkup.job_id)}</a>{' '}
            <VerdictBadge checkup={checkup} />
          </li>
        ))}
      </ul>
      {data?.schedules.map((schedule) => (
        <ScheduleItem key={schedule.schedule_id} schedule={schedule} onChange={reload} />
      ))}
    </Panel>
  );
}

/** Until the next read: soon while a run is undecided or a checkup runs, else when a run is due. */
function nextReadMs(
  { checkups, schedules }: { checkups: { status: Checkup['status'] }[]; schedules: Schedule[] },
  nowMs: number,
): number {
  const isOpen =
    checkups.some(({ status }) => isActive(status)) ||
    schedules.some(({ last_runs: runs }) => runs.some(({ outcome }) => outcome === null));
  if (isOpen) return pollMs.open;
  const due = schedules.flatMap(({ next_run_at: at }) => (at === null ? [] : [Date.parse(at) - nowMs]));
  return Math.max(pollMs.open, Math.min(pollMs.idle, ...due));
}

function ScheduleItem({ schedule, onChange }: { schedule: Schedule; onChange: () => Promise<void> }) {
  const { schedule_id: id, paused, last_runs: runs } = schedule;
  const handle = client.value.schedules.handle(id);
  const run = async () => {
    await handle.run();
    await onChange();
  };
  const pause = async () => {
    await handle.update({ paused: !paused });
    await onChange();
  };
  return (
    <section class="schedule" aria-label={`Schedule ${timesOf(schedule)}`}>
      <p>
        <strong>{timesOf(schedule)}</strong>, {nextOf(schedule)}. {spentOf(schedule)}
      </p>
      <div class="actions">
        <ActionButton run={run}>Run now</ActionButton>
        <ActionButton run={pause}>{paused ? 'Resume' : 'Pause'}</ActionButton>
      </div>
      <ul class="log" aria-label="Latest runs">
        {runs.slice(0, shownRuns).map(({ run_id: runId, scheduled_at: at, outcome, job_id: job, detail }) => (
          <li key={runId}>
            <Time at={at} /> <Badge status={outcome ? outcomeColors[outcome] : 'running'} text={outcome ?? 'due'} />{' '}
            {job !== null && <a href={pageOf(job)}>{shortId(job)}</a>}
            {detail !== null && <span class="quiet">{detail}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

const outcomeColors = { started: 'succeeded', skipped: 'paused', refused: 'failed' };

const timesOf = ({ every, cron, timezone }: Schedule): string =>
  every === null ? `${cron} ${timezone}` : `Every ${every}`;

function nextOf({ paused, paused_in_temporal: isPausedThere, next_run_at: next }: Schedule): string {
  if (paused) return 'paused';
  if (isPausedThere) return 'paused in Temporal';
  return next === null ? 'next run not known' : `next run ${fullClock(next)}`;
}

function spentOf({ spent_this_month_usd: spent, max_cost_usd_per_month: limit }: Schedule): string {
  return `This month ${dollars(spent)}${limit === null ? '' : ` of ${dollars(limit)}`}.`;
}
