import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { numberOf } from '../../data/search.js';
import type { Pareto, Results, Session } from '../../data/session/types.js';
import { Panel, Problem } from '../../ui/basics.js';
import { LongText } from '../../ui/long-text.js';
import { count, dollars, milliseconds, reward } from '../../util/format.js';
import { here } from '../../util/router.js';
import { CandidateFront } from '../search/candidate-front.js';

/** Characters of a part before it is unfolded. */
const mostShown = 300;

type Shorter = NonNullable<Results['shorter_prompt']>;

/** The parts of the best prompt that can leave it. */
export function RemovalPanel({ shorter }: { shorter: Shorter }) {
  return (
    <Panel title="Not shown to help">
      <p class="quiet">
        Without these parts, {shorter.tested_rows} tested rows lost nothing:{' '}
        <a href={here({ candidate: shorter.candidate_id })}>candidate {numberOf(shorter.candidate_id)}</a>
        {shorter.reward === null
          ? ', not evaluated'
          : `, estimate ${reward(shorter.reward)} on rows that the search saw`}
        .
      </p>
      <ul>
        {shorter.removed.map((part, index) => (
          <li key={index}>
            {part.kind === 'sentence' ? `Sentence of ${part.component}` : 'Demonstration'}
            <LongText text={part.text} limit={mostShown} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Evaluated prompts that are shorter, cheaper or faster than the best one, beside it. */
export function ChoicePanel({ session, bestId }: { session: Session; bestId: string | null }) {
  const path = { session_id: session.session_id };
  const { data, error } = useResource(`pareto ${path.session_id} ${bestId} ${session.status}`, (signal) =>
    client.value.request('getSessionPareto', { path, signal }),
  );
  if (!data) return <Problem error={error} />;
  return data.weighed.length < 2 ? null : <Choice weighed={data.weighed} bestId={bestId} />;
}

function Choice({ weighed, bestId }: { weighed: Pareto['weighed']; bestId: string | null }) {
  return (
    <Panel title="To choose from">
      <p class="how">Means over the answers of each evaluation. No other candidate is better in all four.</p>
      <CandidateFront label="Candidates to choose from" candidates={weighed} bestId={bestId} columns={columns} />
    </Panel>
  );
}

type Weighed = Pareto['weighed'][number];

const columns = {
  Reward: (each: Weighed) => reward(each.reward),
  'Prompt tokens': (each: Weighed) => count(each.prompt_tokens),
  Cost: (each: Weighed) => dollars(each.cost_usd),
  Time: (each: Weighed) => milliseconds(each.latency_ms),
};
