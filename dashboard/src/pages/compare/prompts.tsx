import { useResource } from '../../data/resource.js';
import { Empty, Loading, Panel, Problem } from '../../ui/basics.js';
import { Prompt } from '../../ui/prompt.js';
import type { Pair } from './rows.js';
import { loadPrompt, loadSent } from './sides.js';
import type { Comparison } from './verdict.js';

/** Both prompts, with what B changes; without a prompt on record, what both sent on one row. */
export function Prompts({ comparison, pair }: { comparison: Comparison; pair: Pair | undefined }) {
  const { a, b } = comparison;
  const { data, error } = useResource(`${a.id} ${b.id} ${pair?.seed}`, async (signal) => {
    const kept = await Promise.all([loadPrompt(a, signal), loadPrompt(b, signal)]);
    if (kept.every((prompt) => prompt !== null)) return { prompts: kept, seed: null };
    if (!pair) return { prompts: kept, seed: null };
    const sent = [loadSent(a.job_id, pair.a.traceId, signal), loadSent(b.job_id, pair.b.traceId, signal)];
    return { prompts: await Promise.all(sent), seed: pair.seed };
  });
  const [before, after] = data?.prompts ?? [];
  return (
    <Panel title="Prompts" aside={data && data.seed !== null && <span class="quiet">as sent on row {data.seed}</span>}>
      <Problem error={error} />
      {!data && !error && <Loading />}
      {data && !before && !after && <Empty>Neither side has a prompt on record.</Empty>}
      <div class="compare-prompts">
        {before && (
          <section aria-label="Prompt of A">
            <h3>A</h3>
            <Prompt messages={before} />
          </section>
        )}
        {after && (
          <section aria-label="Prompt of B, with its changes">
            <h3>B{before && ', with its changes'}</h3>
            <Prompt messages={after} before={before ?? null} />
          </section>
        )}
      </div>
    </Panel>
  );
}
