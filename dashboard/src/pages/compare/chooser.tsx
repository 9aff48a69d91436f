import { useState } from 'preact/hooks';
import type { Run } from '../../data/run-types.js';
import { client } from '../../data/client.js';
import { loadRuns } from '../../data/runs.js';
import { useResource } from '../../data/resource.js';
import { signed } from '../../../../src/core/math/words.js';
import { shortId } from '../../util/format.js';
import { mostColumns } from '../../util/compare-link.js';
import { setQuery } from '../../util/router.js';
import { Badge, Empty, Loading, Problem, Tag, Time } from '../../ui/basics.js';
import { Dialog } from '../../ui/dialog.js';
import { useSlowly } from '../../ui/hooks/use-slowly.js';
import { gainOf } from '../runs/scale.js';
import { adding, letterOf, removing, type CompareView } from './address.js';
import { settledRun } from './settings.js';
import type { Column } from './types.js';

const offered = 100;

/** The columns, and what may be added to them. */
export function Chooser({ view, columns }: { view: CompareView; columns: readonly Pick<Column, 'id' | 'name'>[] }) {
  const [isOpen, setOpen] = useState(false);
  const { ids, baseline } = view;
  const names = useNames(ids, columns);
  const nameOf = (id: string) => names.get(id) ?? shortId(id);
  return (
    <div class="bar compare-columns" role="group" aria-label="Compared columns">
      {ids.map((id) => (
        <span key={id} class="column-chip">
          <strong>{letterOf(ids, id)}</strong> <bdi title={id}>{nameOf(id)}</bdi>
          <button
            type="button"
            aria-label={`Compare with ${letterOf(ids, id)}`}
            aria-pressed={id === baseline}
            title={id === baseline ? 'The others are compared with this one' : 'Compare the others with this one'}
            onClick={() => setQuery({ baseline: id })}
          >
            {id === baseline ? '★' : '☆'}
          </button>
          <button type="button" aria-label={`Remove ${letterOf(ids, id)}`} onClick={() => setQuery(removing(view, id))}>
            ✕
          </button>
        </span>
      ))}
      <button type="button" class="button" disabled={ids.length >= mostColumns} onClick={() => setOpen(true)}>
        Add …
      </button>
      {ids.length >= mostColumns && <span class="quiet">Eight is the most.</span>}
      {isOpen && <AddDialog view={view} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** The names of the columns; of runs that are not compared, those of the runs. */
function useNames(ids: readonly string[], columns: readonly Pick<Column, 'id' | 'name'>[]) {
  const runs = columns.length > 0 ? [] : ids.filter((id) => settledRun(id) !== null);
  const { data } = useResource(`names ${runs.join()}`, (signal) =>
    Promise.all(
      runs.map((id) =>
        client.value
          .handle(id)
          .get({ signal })
          .then(
            ({ name }): [string, string | null] => [id, name],
            (): [string, null] => [id, null],
          ),
      ),
    ),
  );
  return new Map([...(data ?? []), ...columns.map(({ id, name }): [string, string | null] => [id, name])]);
}

function AddDialog({ view, onClose }: { view: CompareView; onClose: () => void }) {
  const [text, setText] = useState('');
  const name = useSlowly(text, 250).trim();
  const { data, error } = useResource(`runs to compare ${name}`, (signal) =>
    loadRuns({ limit: offered, ...(name && { name }) }, signal),
  );
  const add = (id: string) => {
    setQuery(adding(view, id));
    onClose();
  };
  const runs = data?.data.filter(({ job_id: id }) => !view.ids.includes(id));
  return (
    <Dialog title="Add to the comparison" onClose={onClose} wide>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) add(text.trim());
        }}
      >
        <input
          type="search"
          aria-label="Name of a run, or an id"
          placeholder="Name of a run, or the id of a candidate or deployment"
          value={text}
          maxLength={100}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={text.trim() === ''}>
          Add this id
        </button>
      </form>
      <Problem error={error} />
      {!runs && !error && <Loading />}
      {runs?.length === 0 && (
        <Empty>{name ? 'No other run has this name. It may be an id, or name a deployment.' : 'No other run.'}</Empty>
      )}
      <ul class="offered-runs" aria-label="Runs">
        {runs?.map((run) => (
          <li key={run.job_id}>
            <Offered run={run} onAdd={add} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** A run with what tells it from others of its name. */
function Offered({ run, onAdd }: { run: Run; onAdd: (id: string) => void }) {
  const gain = gainOf(run);
  return (
    <button type="button" class="offered-run" onClick={() => onAdd(run.job_id)}>
      <strong dir="auto">{run.name ?? shortId(run.job_id)}</strong>
      <span class="quiet">
        {run.kind} {shortId(run.job_id)}
      </span>
      <Badge status={run.status === 'completed' && run.verdict ? run.verdict : run.status} />
      {gain && <span class="gain-value">{signed(gain.value)}</span>}
      {run.tags.map((tag) => (
        <Tag key={tag}>{tag}</Tag>
      ))}
      <span class="quiet offered-time">
        <Time at={run.created_at} />
      </span>
    </button>
  );
}
