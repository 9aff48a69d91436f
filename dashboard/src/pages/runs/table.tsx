import { signal } from '@preact/signals';
import type { Run } from '../../data/runs.js';
import { count, dollars, reward, shortId } from '../../util/format.js';
import { link, pageOf, setQuery } from '../../util/router.js';
import { isActive } from '../../data/job.js';
import { Badge, StuckBadge, Tag, Time } from '../../ui/basics.js';
import { Slowdown } from '../../ui/health-strip.js';

interface Marked {
  id: string;
  name: string;
}

/** The runs that are marked for a comparison: at most two. */
const marked = signal<Marked[]>([]);

function mark(run: Marked, isMarked: boolean): void {
  const others = marked.value.filter(({ id }) => id !== run.id);
  marked.value = isMarked ? [...others, run] : others;
}

export function RunsTable({ runs }: { runs: Run[] }) {
  return (
    <>
      <div class="table-box" tabIndex={0} role="region" aria-label="Runs">
        <table class="table">
          <thead>
            <tr>
              <th>
                <span class="visually-hidden">Compare</span>
              </th>
              <th>Run</th>
              <th>Status</th>
              <th class="number">Reward</th>
              <th>Progress</th>
              <th class="number">Cost</th>
              <th>Model</th>
              <th>Created</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <RunRow key={run.job_id} run={run} />
            ))}
          </tbody>
        </table>
      </div>
      <CompareBar />
    </>
  );
}

/** What is marked, in view wherever the list is scrolled. */
function CompareBar() {
  const [a, b] = marked.value;
  if (!a) return null;
  return (
    <section class="compare-bar" aria-label="Marked runs">
      <p role="status">
        <bdi>{a.name}</bdi> {b ? 'and' : 'is marked. Mark another run to compare it with.'} {b && <bdi>{b.name}</bdi>}
      </p>
      <div class="actions">
        {b && (
          <a class="button button-primary" href={link(['compare'], { a: a.id, b: b.id })}>
            Compare
          </a>
        )}
        <button type="button" class="button" onClick={() => (marked.value = [])}>
          Clear
        </button>
      </div>
    </section>
  );
}

function RunRow({ run }: { run: Run }) {
  const name = run.name ?? shortId(run.job_id);
  const { done, total } = progressOf(run);
  const isMarked = marked.value.some(({ id }) => id === run.job_id);
  const isFull = marked.value.length === 2 && !isMarked;
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Compare ${name}`}
          checked={isMarked}
          disabled={isFull}
          title={isFull ? 'Two runs are marked; clear one of them first.' : undefined}
          onChange={(event) => mark({ id: run.job_id, name }, event.currentTarget.checked)}
        />
      </td>
      <td class="run-name">
        <a class="row-link" dir="auto" href={pageOf(run.job_id)}>
          {name}
        </a>
        <span class="quiet"> {run.kind}</span>
        {run.archived && <Tag>archived</Tag>}
        {run.tags.map((tag) => (
          <button key={tag} type="button" class="tag-button" onClick={() => setQuery({ tag })}>
            <Tag>{tag}</Tag>
          </button>
        ))}
      </td>
      <td class="short">
        <Badge status={run.status} /> <StuckBadge stuck={run.stuck} /> <Slowdown id={run.job_id} />
      </td>
      <td class="number">{reward(rewardOf(run))}</td>
      <td class="short">
        {isActive(run.status) && (
          <progress aria-label={`Progress of ${name}`} {...(total !== null && { value: done, max: total })} />
        )}
        <span class="quiet">
          {count(done)}
          {total !== null && ` / ${count(total)}`}
        </span>
      </td>
      <td class="number">{dollars(run.total_cost_usd)}</td>
      <td class="quiet short">{'policy' in run ? `${run.policy.provider}/${run.policy.model}` : ''}</td>
      <td class="short">
        <Time at={run.created_at} />
      </td>
    </tr>
  );
}

/** The mean of an evaluation; of a search, the estimate, which moves between evaluations. */
function rewardOf(run: Run): number | null {
  return 'mean_reward' in run ? run.mean_reward : (run.estimated_reward ?? run.best_reward);
}

/** Rollouts that are done, and their limit; null: unlimited. */
function progressOf({ progress }: Run): { done: number; total: number | null } {
  if ('completed' in progress) return { done: progress.completed, total: progress.total };
  return { done: progress.rollouts_completed, total: progress.max_rollouts ?? null };
}
