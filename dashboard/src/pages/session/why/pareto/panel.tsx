import { useMemo } from 'preact/hooks';
import { reward } from '../../../../util/format.js';
import { here } from '../../../../util/router.js';
import { Empty, Panel } from '../../../../ui/basics.js';
import { VirtualList } from '../../../../ui/virtual-list.js';
import { numberOf } from '../../../../data/search.js';
import type { Candidate, Pareto, SensorFrame } from '../../../../data/session/types.js';
import { pointsOf } from './points.js';
import { Scatter } from './scatter.js';

type Seed = Pareto['seeds'][number];
/** As many holders of a seed are named. */
const namedHolders = 4;

/** Which candidates are best where, and what they cost. */
export function ParetoPanel(props: {
  candidates: readonly Candidate[];
  frames: readonly SensorFrame[];
  pareto: Pareto;
}) {
  const { candidates, frames, pareto } = props;
  const { unit, points } = useMemo(() => pointsOf(candidates, frames, pareto.front), [candidates, frames, pareto]);
  const seeds = useMemo(() => pareto.seeds.toSorted(byNeed), [pareto]);
  return (
    <Panel title="Best on some rows, and what it costs">
      <p class="how">
        The Pareto front: candidates that are best on a row, while no other is at least as good everywhere. Up is a
        higher reward, left is a cheaper answer; the line joins the candidates that no cheaper one equals. In the list,
        rows that few candidates solve come first: who solves them is worth keeping.
      </p>
      <div class="grid">
        {points.length === 0 ? <Empty>No candidate is evaluated yet.</Empty> : <Scatter points={points} unit={unit} />}
        <div>
          <div class="pareto-seed axis-head" aria-hidden="true">
            <span>Row</span>
            <span>Best</span>
            <span>Held by</span>
          </div>
          <VirtualList
            count={seeds.length}
            rowHeight={28}
            height="272px"
            label="Evaluation rows"
            row={(index) => <SeedRow seed={seeds[index]!} />}
          />
        </div>
      </div>
    </Panel>
  );
}

const byNeed = (a: Seed, b: Seed): number =>
  (a.best_reward ?? -Infinity) - (b.best_reward ?? -Infinity) || a.holders - b.holders || a.seed - b.seed;

function SeedRow({ seed: { seed, best_reward: best, holders, candidate_ids: ids } }: { seed: Seed }) {
  return (
    <div class="pareto-seed">
      <span>{seed}</span>
      <span>{reward(best)}</span>
      <span class="pareto-holders">
        {ids.slice(0, namedHolders).map((id) => (
          <a key={id} href={here({ candidate: id })}>
            {numberOf(id)}
          </a>
        ))}
        {holders > namedHolders && <span class="quiet">and {holders - namedHolders} more</span>}
      </span>
    </div>
  );
}
