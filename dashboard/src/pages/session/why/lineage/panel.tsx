import { useMemo, useRef, useState } from 'preact/hooks';
import { reward } from '../../../../util/format.js';
import { Empty, Panel } from '../../../../ui/basics.js';
import { useWidth } from '../../../../ui/hooks/use-width.js';
import { numberOf } from '../../../../data/search.js';
import type { Candidate } from '../../../../data/search.js';
import type { Session } from '../../../../data/session/types.js';
import { ancestorsOf, lineageOf, neighborOf } from './layout.js';
import { NodeView, Mark } from './node.js';
import { edgePath, scaleOf, type Scale } from './scale.js';

/** Which candidate came from which, and the way from the baseline to the winner. */
export function LineagePanel({ candidates, session }: { candidates: readonly Candidate[]; session: Session }) {
  return (
    <Panel title="Lineage" aside={<Legend />}>
      <p class="how">
        Each shape is a candidate, from the baseline at the left, one column or more per generation; lines lead from
        parents to children. Larger shapes have a higher reward, measured or else estimated. The thick line leads to the
        winner. Arrow keys move along the lines, Enter opens a candidate.
      </p>
      {candidates.length === 0 ? <Empty>No candidates yet.</Empty> : <Tree candidates={candidates} session={session} />}
    </Panel>
  );
}

function Tree({ candidates, session }: { candidates: readonly Candidate[]; session: Session }) {
  const { best_candidate_id: winner, baseline_candidate_id: baseline } = session.lever_summary;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const lineage = useMemo(() => lineageOf(candidates), [candidates]);
  const line = useMemo(() => ancestorsOf(candidates, winner), [candidates, winner]);
  const scale = scaleOf(lineage, candidates, width);
  const [current, setCurrent] = useState<string | null>(null);
  const tabStop = current ?? winner ?? candidates[0]!.candidate_id;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = neighborOf(lineage, tabStop, event.key);
    if (next === undefined) return;
    event.preventDefault();
    box.current!.querySelector<SVGAElement>(`[data-id="${next}"]`)!.focus();
  };
  const nodes = useMemo(
    () =>
      [...lineage.placed.values()].map((node) => {
        const id = node.candidate.candidate_id;
        const name = id === winner ? 'winner' : id === baseline ? 'baseline' : null;
        const isTabStop = id === tabStop;
        return <NodeView key={id} {...{ node, scale, name, isTabStop }} onCurrent={setCurrent} />;
      }),
    [lineage, width, winner, baseline, tabStop],
  );
  return (
    <>
      <div ref={box} class="why-scroll" onKeyDown={onKeyDown}>
        <svg
          width={scale.width}
          height={scale.height}
          role="group"
          aria-label={`Lineage of ${candidates.length} candidates`}
        >
          <Generations columns={lineage.columns} scale={scale} />
          <path class="edge" d={edgePath(lineage, scale, ([, child]) => !line.has(child))} />
          <path class="edge edge-winner" d={edgePath(lineage, scale, ([, child]) => line.has(child))} />
          {nodes}
        </svg>
      </div>
      <Said candidate={lineage.placed.get(tabStop)?.candidate} />
    </>
  );
}

function Generations({ columns, scale }: { columns: { generation: number }[]; scale: Scale }) {
  return (
    <g class="axis-text" aria-hidden="true">
      {columns.map(({ generation }, n) =>
        generation === columns[n - 1]?.generation ? null : (
          <text key={generation} x={scale.x(n)} y={scale.height - 4} text-anchor="middle">
            {n === 0 && scale.width > 500 ? `gen ${generation}` : generation}
          </text>
        ),
      )}
    </g>
  );
}

function Said({ candidate }: { candidate: Candidate | undefined }) {
  if (candidate === undefined) return null;
  const { candidate_id: id, decision, generation } = candidate;
  const estimated = decision.estimated_reward;
  return (
    <p class="why-said">
      <strong>{numberOf(id)}</strong> generation {generation}
      {candidate.reward === null && estimated !== null && `, estimated ${reward(estimated)}`}. {decision.message}
    </p>
  );
}

function Legend() {
  return (
    <ul class="why-legend">
      {(['accepted', 'rejected', 'pending'] as const).map((outcome) => (
        <li key={outcome}>
          <svg width="14" height="14" aria-hidden="true">
            <g transform="translate(7 7)">
              <Mark outcome={outcome} size={5} />
            </g>
          </svg>
          {outcome}
        </li>
      ))}
      <li>
        <svg width="16" height="16" aria-hidden="true">
          <g transform="translate(8 8)">
            <Mark outcome="accepted" size={4} isEvaluated />
          </g>
        </svg>
        evaluated
      </li>
    </ul>
  );
}
