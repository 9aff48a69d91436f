import { loadRuns } from '../../data/runs.js';
import { useResource } from '../../data/resource.js';
import { ago, shortId } from '../../util/format.js';
import { setQuery } from '../../util/router.js';
import { Problem } from '../../ui/basics.js';

const offered = 100;

/** Chooses the two sides among recent runs. */
export function Chooser({ a, b }: { a: string | null; b: string | null }) {
  const { data, error } = useResource('runs to compare', (signal) => loadRuns({ limit: offered }, signal));
  const runs = data?.data;
  const side = (query: 'a' | 'b', value: string | null) => (
    <label class="compare-side">
      <strong>{query.toUpperCase()}</strong>
      <select
        aria-label={`Run ${query.toUpperCase()}`}
        value={value ?? ''}
        onChange={(event) => setQuery({ [query]: event.currentTarget.value || null })}
      >
        <option value="">Choose a run …</option>
        {value !== null && !runs?.some((run) => run.job_id === value) && (
          <option value={value}>{shortId(value)}</option>
        )}
        {runs?.map((run) => (
          <option key={run.job_id} value={run.job_id}>
            {run.name ?? shortId(run.job_id)}, {run.kind}, {ago(run.created_at)}, {shortId(run.job_id)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      <div class="filters" role="group" aria-label="Runs to compare">
        {side('a', a)}
        {side('b', b)}
        {a !== null && b !== null && (
          <button type="button" class="button" onClick={() => setQuery({ a: b, b: a })}>
            Swap
          </button>
        )}
      </div>
      <Problem error={error} />
    </>
  );
}
