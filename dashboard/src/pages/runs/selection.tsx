import { useState } from 'preact/hooks';
import { commandRuns, type Action, type Commanded } from '../../data/runs.js';
import { isActive } from '../../data/job.js';
import { useResource } from '../../data/resource.js';
import { count, shortId, words } from '../../util/format.js';
import { compareLink, mostColumns } from '../../util/compare-link.js';
import { ActionButton, Badge, Field, Loading, Problem } from '../../ui/basics.js';
import { Dialog } from '../../ui/dialog.js';
import { clear, marked, type Marked } from './marked.js';

/** What the bar offers, and how a dialog asks for it. */
const actions = {
  pause: { label: 'Pause', did: 'paused' },
  resume: { label: 'Resume', did: 'resumed' },
  cancel: { label: 'Cancel', did: 'cancelled' },
  archive: { label: 'Archive', did: 'archived' },
  unarchive: { label: 'Unarchive', did: 'taken back from the archive' },
  tag: { label: 'Tag', did: 'tagged' },
} as const satisfies Record<Action, object>;

/** What is selected and what can be done with it, in view wherever the list is scrolled. */
export function SelectionBar({ onDone }: { onDone: () => Promise<void> }) {
  const runs = [...marked.value.values()];
  const [action, setAction] = useState<Action | null>(null);
  if (runs.length === 0) return null;
  return (
    <section class="compare-bar" aria-label="Selected runs">
      <p role="status">{count(runs.length)} selected</p>
      <div class="actions">
        <CompareLink runs={runs} />
        {(Object.keys(actions) as Action[]).map((name) => (
          <button
            key={name}
            type="button"
            class={`button button-${name === 'cancel' ? 'danger' : 'plain'}`}
            onClick={() => setAction(name)}
          >
            {actions[name].label}
          </button>
        ))}
        <button type="button" class="button" onClick={clear}>
          Clear
        </button>
      </div>
      {action && <CommandDialog action={action} runs={runs} onClose={() => setAction(null)} onDone={onDone} />}
    </section>
  );
}

function CompareLink({ runs }: { runs: Marked[] }) {
  if (runs.length >= 2 && runs.length <= mostColumns)
    return (
      <a class="button button-primary" href={compareLink(...runs.map(({ job_id }) => job_id))}>
        Compare {runs.length}
      </a>
    );
  return (
    <button type="button" class="button" disabled title={`Select 2 to ${mostColumns} runs to compare them.`}>
      Compare
    </button>
  );
}

/** Lists what an action touches before it does, and what became of it. */
function CommandDialog(props: { action: Action; runs: Marked[]; onClose: () => void; onDone: () => Promise<void> }) {
  const { action, runs, onClose, onDone } = props;
  const [tag, setTag] = useState('');
  const [done, setDone] = useState<Commanded | null>(null);
  const ids = runs.map(({ job_id }) => job_id);
  // What a new tag touches is asked with the tag alone.
  const isKnown = action !== 'tag';
  const { data, error } = useResource(`${action} ${ids.join()}`, async () =>
    isKnown ? commandRuns(action, ids, { isDry: true }) : null,
  );
  const { label, did } = actions[action];
  const touched = data ? data.filter(({ outcome }) => outcome === 'would') : isKnown ? [] : runs;
  const others = (data ?? []).filter(({ outcome }) => outcome !== 'would');
  const run = async () => {
    const named = touched.map(({ job_id }) => job_id);
    setDone(await commandRuns(action, named, action === 'tag' ? { tag } : {}));
    await onDone();
  };
  if (done) return <Answered title={label} did={did} done={done} onClose={onClose} />;
  return (
    <Dialog title={`${label} ${count(touched.length)} of ${count(runs.length)} runs?`} onClose={onClose}>
      <Problem error={error} />
      {isKnown && !data && !error && <Loading />}
      {action === 'tag' && (
        <Field label="Tag" hint="Letters, digits, spaces and . _ : / = @ + -">
          <input value={tag} maxLength={50} onInput={(event) => setTag(event.currentTarget.value)} />
        </Field>
      )}
      <Touched runs={touched} />
      {action === 'archive' && <StillRuns runs={touched} />}
      {others.length > 0 && (
        <>
          <p class="quiet">Not touched:</p>
          <Touched runs={others} />
        </>
      )}
      <div class="actions">
        <ActionButton
          kind={action === 'cancel' ? 'danger' : 'primary'}
          disabled={touched.length === 0 || (action === 'tag' && tag.trim() === '')}
          run={run}
        >
          {label} {count(touched.length)}
        </ActionButton>
        <button type="button" class="button" onClick={onClose}>
          Keep them
        </button>
      </div>
    </Dialog>
  );
}

type Listed = Pick<Commanded[number], 'job_id' | 'name' | 'status'> & { error?: Commanded[number]['error'] };

function Touched({ runs }: { runs: readonly Listed[] }) {
  return (
    <ul class="touched">
      {runs.map(({ job_id: id, name, status, error }) => (
        <li key={id}>
          <bdi>{name ?? shortId(id)}</bdi> {status && <Badge status={status} />}
          {error && <span class="quiet"> {error.message}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Archiving ends nothing. */
function StillRuns({ runs }: { runs: readonly Listed[] }) {
  const active = runs.filter(({ status }) => status && isActive(status));
  if (active.length === 0) return null;
  return (
    <p class="note" role="note">
      {count(active.length)} of them {active.length === 1 ? 'goes' : 'go'} on and may cost money. To end{' '}
      {active.length === 1 ? 'it' : 'them'}, cancel.
    </p>
  );
}

function Answered(props: { title: string; did: string; done: Commanded; onClose: () => void }) {
  const { title, did, done, onClose } = props;
  const counts = new Map<string, number>();
  for (const { outcome } of done) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const failed = done.filter(({ error }) => error !== null);
  return (
    <Dialog title={title} onClose={onClose}>
      <p role="status">
        {[...counts].map(([outcome, n]) => `${count(n)} ${outcome === 'done' ? did : words(outcome)}`).join(', ')}
      </p>
      {failed.length > 0 && <Touched runs={failed} />}
      <button type="button" class="button button-primary" onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}
