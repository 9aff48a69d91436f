import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { numberOf } from '../../data/search.js';
import type { Pareto, Results, Session } from '../../data/session/types.js';
import { Panel, Problem, Tag } from '../../ui/basics.js';
import { LongText } from '../../ui/long-text.js';
import { count, dollars, milliseconds, reward } from '../../util/format.js';
import { here } from '../../util/router.js';

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
        {shorter.reward === null ? ', not evaluated' : `, reward ${reward(shorter.reward)} on the evaluation rows`}.
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
  return data.weighed.length < 2 ? null : <Weighed weighed={data.weighed} bestId={bestId} />;
}

function Weighed({ weighed, bestId }: { weighed: Pareto['weighed']; bestId: string | null }) {
  return (
    <Panel title="To choose from">
      <p class="how">Means over the rollouts of each evaluation. No other candidate is better in all four.</p>
      <div class="table-box" tabIndex={0} role="region" aria-label="Candidates to choose from">
        <table class="table">
          <thead>
            <tr>
              <th>Candidate</th>
              <th class="number">Reward</th>
              <th class="number">Prompt tokens</th>
              <th class="number">Cost</th>
              <th class="number">Time</th>
            </tr>
          </thead>
          <tbody>
            {weighed.map((each) => (
              <tr key={each.candidate_id}>
                <td>
                  <a class="row-link" href={here({ candidate: each.candidate_id })}>
                    {numberOf(each.candidate_id)}
                  </a>{' '}
                  {each.candidate_id === bestId && <Tag>best</Tag>}
                </td>
                <td class="number">{reward(each.reward)}</td>
                <td class="number">{count(each.prompt_tokens)}</td>
                <td class="number">{dollars(each.cost_usd)}</td>
                <td class="number">{milliseconds(each.latency_ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
