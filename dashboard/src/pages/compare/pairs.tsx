import { useMemo, useState } from 'preact/hooks';
import { useOutputs } from '../../data/outputs.js';
import { Choice } from '../../ui/choice.js';
import { Empty, Panel } from '../../ui/basics.js';
import { OutputsProblem } from '../../ui/outputs-problem.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { PairRow } from './pair-row.js';
import { choosePairs, type Order, type Outcome, type Pair, type SideRow } from './rows.js';
import type { Comparison } from './verdict.js';

const rowHeight = 84;
const headHeight = 40;
const orderNames: Record<Order, string> = { lost: 'Largest losses first', won: 'Largest gains first', row: 'In order' };

/** The rows that B won, lost and tied, with both rewards. */
export function Pairs(props: { comparison: Comparison; pairs: Pair[]; a: SideRow[]; b: SideRow[] }) {
  const { comparison, pairs, a, b } = props;
  const { won, lost, tied } = comparison;
  const [outcome, setOutcome] = useState<Outcome | 'all'>('all');
  const [order, setOrder] = useState<Order>('lost');
  const shown = useMemo(() => choosePairs(pairs, outcome, order), [pairs, outcome, order]);
  const outputs = useOutputs([comparison.a.job_id, comparison.b.job_id]);
  const places = useMemo(() => [a, b].map((rows) => new Map(rows.map(({ traceId }, n) => [traceId, n]))), [a, b]);
  const names = { all: `All ${won + lost + tied}`, won: `B won ${won}`, lost: `B lost ${lost}`, tied: `Tied ${tied}` };
  return (
    <Panel title="Rows">
      <div class="filters">
        <Choice label="Rows" value={outcome} options={names} onChange={setOutcome} />
        <Choice label="Order" value={order} options={orderNames} onChange={setOrder} />
      </div>
      <OutputsProblem outputs={outputs} />
      {shown.length === 0 ? (
        <Empty>No such row.</Empty>
      ) : (
        <div class="matrix compare-rows" style={{ '--columns': 2 }}>
          <VirtualList
            count={shown.length}
            rowHeight={rowHeight}
            label="Rows with both rewards"
            height={`min(70vh, ${shown.length * rowHeight + headHeight + 18}px)`}
            head={['Row, B minus A', 'A', 'B'].map((name) => (
              <div key={name} role="columnheader" class="matrix-cell matrix-head">
                {name}
              </div>
            ))}
            row={(index) => <PairRow comparison={comparison} pair={shown[index]!} outputs={outputs} places={places} />}
          />
        </div>
      )}
    </Panel>
  );
}
