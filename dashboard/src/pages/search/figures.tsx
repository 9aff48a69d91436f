import { useEffect, useState } from 'preact/hooks';
import { count, dollars, duration, reward } from '../../util/format.js';
import { UnseenRows } from '../../ui/charts/interval-bar.js';
import { Stat, Stats } from '../../ui/basics.js';
import { secondOfSearch } from '../../data/first-reward.js';
import { useEventFold, type EventLog } from '../../data/event-log.js';
import { isActive } from '../../data/job.js';
import type { ProposalCounts } from '../../data/diagnosis.js';
import type { Curve } from './curve.js';
import { proposalFigures, ProposalTally } from './proposals.js';
import type { Results, SearchJob } from '../../data/search.js';

/** The figures of a search: how far, how much; the reward is in the head of the page. */
export function Figures(props: {
  job: SearchJob;
  results: Results | undefined;
  curve: Curve;
  proposals: ProposalCounts | undefined;
  log: EventLog;
}) {
  const { job, results, curve, log } = props;
  const tally = useEventFold(log, () => new ProposalTally());
  // Of the same moment as the decisions beside them.
  const proposals = isActive(job.status) ? tally.counts : props.proposals;
  const { budget, usage, progress } = job;
  const second = secondOfSearch(job, results);
  const spent = budget.spent_usd ?? usage.total_cost_usd;
  return (
    <Stats>
      <Stat name="Answers">
        {count(Math.max(progress.rollouts_completed, curve.rollouts))}
        <Of
          limit={progress.max_rollouts}
          say={count}
          done={isActive(job.status) ? progress.rollouts_completed : null}
        />
      </Stat>
      <Stat name="Cost" hint={usage.total_cost_usd === null ? 'The price of a model is unknown' : undefined}>
        {dollars(spent)}
        <Of limit={budget.max_cost_usd} say={dollars} done={isActive(job.status) ? spent : null} />
      </Stat>
      <Stat name="Time" hint="Pauses left out">
        <RunTime job={job} curve={curve} />
      </Stat>
      <Stat name="Tokens">
        {count(usage.total_tokens)}
        <span class="stat-more">{count(usage.calls)} calls</span>
      </Stat>
      {proposals && <Proposals proposals={proposals} />}
      {second && (
        <Stat name={second.name} hint="A mean that the search chose by; with its 95 % interval for unseen rows">
          {reward(second.reward)}
          <UnseenRows interval={second.interval} />
        </Stat>
      )}
    </Stats>
  );
}

function Proposals({ proposals }: { proposals: ProposalCounts }) {
  const { total, parts } = proposalFigures(proposals);
  return (
    <Stat name="Proposals" hint="New texts that the model was asked for, and what became of them">
      {count(total)}
      {parts.map((part) => (
        <span key={part} class="stat-more">
          {part}
        </span>
      ))}
    </Stat>
  );
}

/** The limit of a budget, and the share that is used; null: no share, as of an ended search. */
function Of(props: { limit: number | null; done: number | null; say: (value: number) => string }) {
  const { limit, done, say } = props;
  if (limit === null) return null;
  return (
    <span class="stat-more">
      of {say(limit)}
      {done !== null && <progress aria-label="Share of the budget" value={done} max={limit} />}
    </span>
  );
}

/** The time that the search has run; counts on while it runs. */
function RunTime({ job, curve }: { job: SearchJob; curve: Curve }) {
  const isRunning = job.status === 'running';
  const [, tick] = useState(0);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => tick((n) => n + 1), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  // While the events of an ended search are still coming, its clock seems to run.
  const minutes = isRunning ? curve.minutesAt(Date.now()) : curve.minutes;
  return (
    <>
      {job.started_at === null ? '–' : duration(minutes * 60_000)}
      <Of
        limit={job.budget.max_minutes}
        done={isActive(job.status) ? minutes : null}
        say={(limit) => `${count(limit)} min`}
      />
    </>
  );
}
