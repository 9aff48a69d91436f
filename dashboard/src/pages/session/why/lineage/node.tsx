import { reward } from '../../../../util/format.js';
import { here } from '../../../../util/router.js';
import type { Candidate } from '../../../../data/search.js';
import type { Placed } from './layout.js';
import type { Scale } from './scale.js';

type Outcome = Candidate['decision']['outcome'];

/** A candidate of the lineage as a link. */
export function NodeView(props: {
  node: Placed<Candidate>;
  scale: Scale;
  /** Its part in the search, written below it. */
  name: string | null;
  isTabStop: boolean;
  onCurrent: (id: string) => void;
}) {
  const { node, scale, name } = props;
  const { candidate_id: id, lever_version: version, generation, decision, status } = node.candidate;
  const size = scale.size(node.candidate);
  const facts = [`Candidate ${version}`, name, `generation ${generation}`, decision.outcome];
  const label = [...facts, `reward ${reward(node.candidate.reward)}`].filter(Boolean).join(', ');
  const show = () => props.onCurrent(id);
  return (
    <g transform={`translate(${scale.x(node.column)} ${scale.y(node.row)})`}>
      <a
        href={here({ candidate: id })}
        data-id={id}
        aria-label={label}
        tabIndex={props.isTabStop ? 0 : -1}
        class="node"
        onFocus={show}
        onMouseEnter={show}
      >
        <circle r="12" fill="transparent" />
        <Mark outcome={decision.outcome} size={size} isEvaluated={status === 'evaluated'} />
        {name !== null && (
          <text class={`node-name node-${name}`} y={size + 13} text-anchor="middle">
            {name}
          </text>
        )}
      </a>
    </g>
  );
}

/** The shape of an outcome: a disc, a cross or an open square; in a ring if it is evaluated. */
export function Mark({ outcome, size, isEvaluated }: { outcome: Outcome; size: number; isEvaluated?: boolean }) {
  const arm = size * 0.8;
  return (
    <>
      {outcome === 'accepted' && <circle class="mark-accepted" r={size} />}
      {outcome === 'rejected' && (
        <path class="mark-rejected" d={`M${-arm} ${-arm}L${arm} ${arm}M${-arm} ${arm}L${arm} ${-arm}`} />
      )}
      {outcome === 'pending' && <rect class="mark-pending" x={-arm} y={-arm} width={2 * arm} height={2 * arm} />}
      {isEvaluated && <circle class="mark-evaluated" r={size + 2.5} />}
    </>
  );
}
