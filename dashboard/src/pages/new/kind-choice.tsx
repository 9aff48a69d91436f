import { Choice } from '../../ui/choice.js';
import type { RunKind, Source } from './form/draft.js';
import { change, draft } from './form/store.js';

const kinds: Record<RunKind, { label: string; hint: string }> = {
  session: { label: 'Optimize', hint: 'Search for a better prompt' },
  evaluation: { label: 'Evaluate', hint: 'Score a prompt on all rows' },
  graph: { label: 'Optimize steps', hint: 'A chain of prompts' },
};

const sources: Record<Source, string> = { rows: 'Rows of a file', container: 'A container of mine' };

/** What to do. */
export function KindChoice() {
  const { kind } = draft.value;
  return (
    <fieldset class="kind-choices">
      <legend class="visually-hidden">Kind of run</legend>
      {Object.entries(kinds).map(([name, { label, hint }]) => (
        <label key={name} class="kind-choice">
          <input type="radio" name="kind" checked={kind === name} onChange={() => change({ kind: name as RunKind })} />
          <span>
            <strong>{label}</strong> <span class="quiet">{hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Rows of a file, or a container. Graphs run on rows. */
export function SourceChoice() {
  const { kind, source } = draft.value;
  if (kind === 'graph') return null;
  return <Choice label="On what" value={source} options={sources} onChange={(next) => change({ source: next })} />;
}
