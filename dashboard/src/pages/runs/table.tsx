import { signal } from '@preact/signals';
import type { Run } from '../../data/runs.js';
import { count, dollars, reward, shortId } from '../../util/format.js';
import { link, pageOf, setQuery } from '../../util/router.js';
import { Badge, Tag, Time } from '../../ui/basics.js';

/** The runs that are marked for a comparison: at most two. */
const marked = signal<string[]>([]);

function mark(id: string, isMarked: boolean): void {
  const others = marked.value.filter((each) => each !== id);
  marked.value = isMarked ? [...others, id].slice(-2) : others;
}

const kinds = { session: 'session', evaluation: 'evaluation', graph: 'graph' };

export function RunsTable({ runs }: { runs: Run[] }) {
  const [a, b] = marked.value;
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
      {a && b && (
        <p class="bar">
          <a class="button button-primary" href={link(['compare'], { a, b })}>
            Compare {shortId(a)} with {shortId(b)}
          </a>
          <button type="button" class="button" onClick={() => (marked.value = [])}>
            Clear
          </button>
        </p>
      )}
    </>
  );
}

function RunRow({ run }: { run: Run }) {
  const name = run.name ?? shortId(run.job_id);
  const { done, total } = progressOf(run);
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Compare ${name}`}
          checked={marked.value.includes(run.job_id)}
          onChange={(event) => mark(run.job_id, event.currentTarget.checked)}
        />
      </td>
      <td>
        <a class="row-link" href={pageOf(run.job_id)}>
          {name}
        </a>
        <span class="quiet"> {kinds[run.kind]}</span>
        {run.tags.map((tag) => (
          <button key={tag} type="button" class="tag-button" onClick={() => setQuery({ tag })}>
            <Tag>{tag}</Tag>
          </button>
        ))}
      </td>
      <td>
        <Badge status={run.status} />
      </td>
      <td class="number">{reward(rewardOf(run))}</td>
      <td>
        <progress
          aria-label={`Progress of ${name}`}
          {...(total === null ? (run.status === 'running' ? {} : { value: 1, max: 1 }) : { value: done, max: total })}
        />
        <span class="quiet">
          {count(done)}
          {total !== null && ` / ${count(total)}`}
        </span>
      </td>
      <td class="number">{dollars(run.total_cost_usd)}</td>
      <td class="quiet">{'policy' in run ? `${run.policy.provider}/${run.policy.model}` : ''}</td>
      <td>
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
