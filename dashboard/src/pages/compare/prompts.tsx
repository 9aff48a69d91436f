import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { setQuery } from '../../util/router.js';
import { Empty, Loading, Panel, Problem } from '../../ui/basics.js';
import { Prompt } from '../../ui/prompt.js';
import { letterOf, type CompareView } from './address.js';
import { ColumnSelect } from './column-select.js';
import { loadPrompt, loadSent } from './sides.js';
import type { Column, Many } from './types.js';

/** The prompts of two columns, with what the second changes. */
export function Prompts({ many, view }: { many: Many; view: CompareView }) {
  const { ids, baseline } = view;
  const from = view.from ?? baseline;
  const to = view.to ?? ids.find((id) => id !== from)!;
  const { data, error } = useResource(`prompts ${from} ${to}`, (signal) => {
    const of = (id: string) => many.columns.find((column) => column.id === id)!;
    return loadPrompts(of(from), of(to), signal);
  });
  const [before, after] = data?.prompts ?? [];
  const side = (query: 'from' | 'to', label: string, value: string) => (
    <label>
      {label} <ColumnSelect ids={ids} value={value} onChange={(id) => setQuery({ [query]: id })} />
    </label>
  );
  return (
    <Panel
      title="Prompts"
      aside={
        <div class="actions">
          {side('from', 'From', from)}
          {side('to', 'to', to)}
          {data && data.row !== null && <span class="quiet">as sent on row {data.row}</span>}
        </div>
      }
    >
      <Problem error={error} />
      {!data && !error && <Loading />}
      {data && !before && !after && <Empty>Neither side has a prompt on record.</Empty>}
      <div class="compare-prompts">
        {before && (
          <section aria-label={`Prompt of ${letterOf(ids, from)}`}>
            <h3>{letterOf(ids, from)}</h3>
            <Prompt messages={before} />
          </section>
        )}
        {after && (
          <section aria-label={`Prompt of ${letterOf(ids, to)}, with its changes`}>
            <h3>
              {letterOf(ids, to)}
              {before && ', with its changes'}
            </h3>
            <Prompt messages={after} before={before ?? null} />
          </section>
        )}
      </div>
    </Panel>
  );
}

/** Both prompts; if one is not on record, what both sent on one row. */
async function loadPrompts(from: Column, to: Column, signal: AbortSignal) {
  const kept = await Promise.all([loadPrompt(from, signal), loadPrompt(to, signal)]);
  if (kept.every((prompt) => prompt !== null)) return { prompts: kept, row: null };
  const { data } = await client.value.comparedRows([from.id, to.id], { limit: 1 }, { signal });
  const [a, b] = data[0]?.cells ?? [];
  if (!a || !b) return { prompts: kept, row: null };
  const sent = [a, b].map((cell) => loadSent(cell.job_id, cell.trace_id, signal));
  return { prompts: await Promise.all(sent), row: data[0]!.row };
}
