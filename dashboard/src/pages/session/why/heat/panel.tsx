import { useMemo, useState } from 'preact/hooks';
import { useEventFold, type EventLog } from '../../../../data/event-log.js';
import { count, reward } from '../../../../util/format.js';
import { Empty, Panel } from '../../../../ui/basics.js';
import { Choice } from '../../../../ui/choice.js';
import { useSlowly } from '../../../../ui/hooks/use-slowly.js';
import type { Candidate } from '../../../../data/search.js';
import type { Session } from '../../../../data/session/types.js';
import { legend } from './colors.js';
import { HeatMap } from './map.js';
import { RewardMatrix, type Part } from './matrix.js';
import { orderOf } from './order.js';

const redrawMs = 1_000;
type Rows = Part | 'all';
const rowsNames: Record<Rows, string> = {
  all: 'All rows',
  train: 'Train',
  evaluation: 'Evaluation',
  heldout: 'Held-out',
};

/** What each candidate scored on each row. */
export function HeatPanel(props: { session: Session; candidates: readonly Candidate[]; log: EventLog }) {
  const { session, candidates, log } = props;
  const { baseline_candidate_id: baseline } = session.lever_summary;
  const matrix = useEventFold(log, () => new RewardMatrix(baseline), baseline ?? '');
  const version = useSlowly(log.version.value, redrawMs);
  const [shown, setShown] = useState<Rows>('all');
  const order = useMemo(() => {
    const rewards = new Map(candidates.map(({ candidate_id: id, reward }) => [id, reward]));
    return orderOf(matrix, rewards, shown === 'all' ? null : shown);
  }, [matrix, version, candidates, shown]);
  const isEmpty = order.rows.length === 0;
  return (
    <Panel title="Rewards by row" aside={<Choice label="Rows" value={shown} options={rowsNames} onChange={setShown} />}>
      <p class="how">
        Each line is a row, the hardest at the top; each column is a candidate, the best reward on evaluation rows
        first, then those without one. A change of color within a row is what a prompt won or lost. Arrow keys move,
        Enter or a click opens the trace.
      </p>
      <div class="heat-part">
        <Legend matrix={matrix} />
        <div>{isEmpty ? <Empty>No answers on these rows.</Empty> : <HeatMap matrix={matrix} order={order} />}</div>
      </div>
    </Panel>
  );
}

function Legend({ matrix }: { matrix: RewardMatrix }) {
  const { low, high, failures } = matrix;
  const keys: [color: string, words: string][] = [
    [legend.high, `better: ${reward(high)}`],
    [legend.middle, 'between'],
    [legend.low, `worse: ${reward(low)}`],
    [legend.failed, `failed (${count(failures)})`],
  ];
  return (
    <ul class="why-legend heat-legend" aria-label="Colors">
      {keys.map(([color, words]) => (
        <li key={words}>
          <span class="heat-key" style={{ background: color }} /> {words}
        </li>
      ))}
      <li>
        <span class="heat-key heat-missing" /> not run
      </li>
      <li>one color across: the same with every prompt</li>
    </ul>
  );
}
