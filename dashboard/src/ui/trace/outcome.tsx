import { jobKinds } from '../../../../src/core/jobs/kinds.js';
import { isRight } from '../../../../src/core/rows/groups.js';
import { kindOfJob } from '../../data/kinds.js';
import { count, dollars, milliseconds, reward, shortId, words } from '../../util/format.js';
import { stageWords } from '../../util/search-words.js';
import { pageOf } from '../../util/router.js';
import { Badge, Stat, Stats, Time } from '../basics.js';
import { Copy } from '../copy.js';
import { LongText } from '../long-text.js';
import type { Trace } from './types.js';
import { jsonOf } from './messages.js';

/** What came of a rollout: its figures, feedback, details and error. */
export function Outcome({ trace, onLeave }: { trace: Trace; onLeave: () => void }) {
  return (
    <>
      <p class="bar trace-head">
        <Verdict trace={trace} />
        <code>{trace.trace_id}</code>
        <Copy text={trace.trace_id} label="Copy id" />
        <span class="quiet">
          <Time at={trace.completed_at ?? trace.created_at} />
          {trace.resent > 0 && `, sent again ${count(trace.resent)} times`}
          {trace.source === 'caller' && ', from live traffic'}
        </span>
      </p>
      <Stats>
        <Stat name="Reward">{reward(trace.reward)}</Stat>
        <Stat name={trace.task_id === undefined ? 'Row' : 'Task'}>{trace.task_id ?? trace.seed ?? '–'}</Stat>
        <Stat name="Stage">
          {trace.stage === null ? '–' : stageWords(trace.stage)}
          {trace.generation !== null && isOfSearch(trace) && (
            <span class="stat-more"> generation {trace.generation}</span>
          )}
        </Stat>
        <Stat name="Candidate">
          <Candidate trace={trace} onLeave={onLeave} />
        </Stat>
        <Stat name="Cost">{dollars(trace.usage.total_cost_usd)}</Stat>
        <Stat name="Tokens" hint="Tokens of the prompts and of the answers">
          {count(trace.usage.prompt_tokens)} + {count(trace.usage.completion_tokens)}
        </Stat>
        <Stat name="Latency">{milliseconds(trace.latency_ms)}</Stat>
      </Stats>
      {trace.error !== null && (
        <p class="problem">
          {trace.error_code && <code>{trace.error_code}</code>} {trace.error}
        </p>
      )}
      {trace.feedback && <Titled title="Feedback" text={trace.feedback} />}
      {trace.details !== null && trace.details !== undefined && <Titled title="Details" text={jsonOf(trace.details)} />}
    </>
  );
}

/** Whether the answer is right; that a rollout succeeded says only that it has a reward. */
function Verdict({ trace: { status, reward } }: { trace: Trace }) {
  if (reward === null) return <Badge status={status} />;
  return (
    <>
      <Badge {...(isRight(reward) ? { status: 'won', text: 'right' } : { status: 'lost', text: 'wrong' })} />
      <span class="quiet">{words(status)}</span>
    </>
  );
}

/** Links to a candidate of a search; an evaluation has no page for its own. */
function Candidate({ trace, onLeave }: { trace: Trace; onLeave: () => void }) {
  const { candidate_id: id, job_id } = trace;
  if (id === null) return <>–</>;
  if (!isOfSearch(trace)) return <code>{shortId(id)}</code>;
  return (
    <a href={pageOf(job_id, { candidate: id })} title={id} onClick={onLeave}>
      {shortId(id)}
    </a>
  );
}

const isOfSearch = ({ job_id }: Trace): boolean => jobKinds[kindOfJob(job_id)].isSearch;

function Titled({ title, text }: { title: string; text: string }) {
  return (
    <section class="trace-part" aria-label={title}>
      <h3>{title}</h3>
      <LongText text={text} />
    </section>
  );
}
