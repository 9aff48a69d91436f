import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { ago, shortId } from '../../util/format.js';
import { compareLink } from '../../util/compare-link.js';
import { setQuery } from '../../util/router.js';
import { Problem } from '../../ui/basics.js';
import { othersFirst } from './others.js';
import type { Column, Evaluation } from '../../data/evaluation/types.js';

/** As many evaluations are offered. */
const offered = 200;
/** As many stand side by side. */
export const mostColumns = 8;

/** Chooses the evaluations that stand beside this one; the address keeps them. */
export function Columns({ job, columns }: { job: Evaluation; columns: Column[] }) {
  const others = columns.slice(1).map((column) => column.job);
  const ids = others.map(({ job_id }) => job_id);
  const set = (next: string[]) => setQuery({ with: next.join() || null });
  return (
    <div class="bar evaluation-columns" role="group" aria-label="Evaluations beside this one">
      {others.map((other) => (
        <span key={other.job_id} class="column-chip">
          {other.name ?? shortId(other.job_id)}
          <a href={compareLink(job.job_id, other.job_id)}>compare</a>
          <button
            type="button"
            aria-label={`Remove ${other.name ?? shortId(other.job_id)}`}
            onClick={() => set(ids.filter((id) => id !== other.job_id))}
          >
            ✕
          </button>
        </span>
      ))}
      {columns.length < mostColumns && <Adder job={job} taken={ids} onAdd={(id) => set([...ids, id])} />}
    </div>
  );
}

function Adder({ job, taken, onAdd }: { job: Evaluation; taken: string[]; onAdd: (id: string) => void }) {
  const { data, error } = useResource('others', async (signal) => {
    const { data } = await client.value.request('listEvaluations', { query: { limit: offered }, signal });
    return data;
  });
  const free = othersFirst(job, data ?? []).filter(({ other }) => !taken.includes(other.job_id));
  const groups = [
    { label: 'Same rows', of: free.filter(({ likeness }) => likeness === 2) },
    { label: 'Other evaluations', of: free.filter(({ likeness }) => likeness < 2) },
  ];
  return (
    <>
      <select
        aria-label="Add an evaluation beside this one"
        value=""
        onChange={({ currentTarget }) => currentTarget.value && onAdd(currentTarget.value)}
      >
        <option value="">{data && free.length === 0 ? 'No other evaluation' : 'Add an evaluation …'}</option>
        {groups.map(({ label, of }) =>
          of.length === 0 ? null : (
            <optgroup key={label} label={label}>
              {of.map(({ other }) => (
                <option key={other.job_id} value={other.job_id}>
                  {other.name ?? shortId(other.job_id)}, {other.policy.model}, {ago(other.created_at)}
                </option>
              ))}
            </optgroup>
          ),
        )}
      </select>
      <Problem error={error} />
    </>
  );
}
